//! Versions of CANN, as its files tell them: `9.1.0`, `8.2.RC1`, `8.5.0.alpha001`.

use std::fmt;

/// A version of CANN. Those on the way to a release (`RC1`, `alpha001`, `beta.1`) come before it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    numbers: [u32; 3],
    released: bool,
    // Last, so that it decides only between those that are otherwise the same.
    text: String,
}

impl Version {
    /// Reads a version: two or three numbers with points between them, and what may follow.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(['.', '-']);
        let mut number = || parts.next().map(str::parse::<u32>);
        let (Some(Ok(major)), Some(Ok(minor))) = (number(), number()) else { return None };
        let (patch, mut released) = match number() {
            Some(Ok(patch)) => (patch, true),
            Some(Err(_)) => (0, false),
            None => (0, true),
        };
        // A fourth number is a build of the release; a word is something on the way to it.
        released &= parts.all(|part| part.bytes().all(|b| b.is_ascii_digit()));
        Some(Self { numbers: [major, minor, patch], released, text: text.to_owned() })
    }

    /// Whether it comes before the release of `numbers`.
    pub(super) fn is_older_than(&self, numbers: [u32; 3]) -> bool {
        (self.numbers, self.released) < (numbers, true)
    }

    /// Finds it in the text of a file of CANN: the value of a line `version`, whatever its case, blanks and quotes; or that
    /// of `version_dir`, which tells the release where `version` is the number of a part.
    pub(super) fn find(text: &str) -> Option<Self> {
        ["version_dir", "version"].into_iter().find_map(|wanted| {
            text.lines().find_map(|line| {
                let (key, value) = line.split_once(['=', ':'])?;
                let clean = |text: &str| {
                    text.trim_matches(|c: char| c.is_whitespace() || "\"'[]{},".contains(c)).to_owned()
                };
                clean(key).eq_ignore_ascii_case(wanted).then_some(())?;
                let value = clean(value);
                // `7.3.0.1.231:8.0.RC2` has the number of the part first; `cann-9.1.0` and `V9.1.0` a word.
                let last = value.rsplit(':').next()?;
                Self::parse(last.trim_start_matches(|c: char| !c.is_ascii_digit()))
            })
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn versions_have_an_order() {
        let older = |text: &str| Version::parse(text).unwrap().is_older_than([9, 1, 0]);
        for text in ["8.2.RC1", "8.5.0.alpha001", "9.0", "9.0.9", "9.1.RC1", "9.1.0-beta.1", "9.1.0.alpha001"]
        {
            assert!(older(text), "{text}");
        }
        for text in ["9.1.0", "9.1", "9.1.0.220", "9.1.1", "9.2.RC1", "9.2.0.alpha001", "10.0.0"] {
            assert!(!older(text), "{text}");
        }
        for text in ["", "9", "nine.one", "RC1", ".9.1", "9..1", "99999999999.1.0"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }

    #[test]
    fn lines_of_all_sorts_are_read() {
        for (text, expected) in [
            ("Version=9.1.0\ntimestamp=20260707\n", Some("9.1.0")),
            ("package_name=Ascend-cann-toolkit\nversion=8.2.RC1\ninnerversion=V100R001\n", Some("8.2.RC1")),
            ("\r\n VERSION = \"9.1.0\" \r\n", Some("9.1.0")),
            ("version: '8.5.0.alpha001'", Some("8.5.0.alpha001")),
            ("{\n  \"version\": \"9.1.0\",\n}", Some("9.1.0")),
            ("Version=[7.3.0.1.231:8.0.RC2]", Some("8.0.RC2")),
            ("Version=7.5.0.2.220\nversion_dir=8.0.0\n", Some("8.0.0")),
            ("version_dir=latest\nVersion=V9.1.0", Some("9.1.0")),
            ("version_dir=cann-9.1.0", Some("9.1.0")),
            ("version=\nversion=9.1.0", Some("9.1.0")),
            ("innerversion=9.1.0", None),
            ("9.1.0", None),
            ("", None),
        ] {
            assert_eq!(
                Version::find(text).map(|version| version.to_string()).as_deref(),
                expected,
                "{text:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in any::<String>()) {
            let _ = Version::parse(&text);
            let _ = Version::find(&format!("version={text}"));
        }

        #[test]
        fn any_release_is_read(numbers in any::<[u32; 3]>(), other in any::<[u32; 3]>()) {
            let [a, b, c] = numbers;
            let version = Version::find(&format!("Version={a}.{b}.{c}")).unwrap();
            prop_assert_eq!(version.is_older_than(other), numbers < other);
        }
    }
}
