/* A plug-in that cannot be loaded, because a library that it needs is not there. */
int vendor_missing(void);
int lacks_library(void);

int lacks_library(void)
{
	return vendor_missing();
}
