/* A library that a plug-in is linked with, and that is then not shipped. */
int vendor_missing(void);

int vendor_missing(void)
{
	return 0;
}
