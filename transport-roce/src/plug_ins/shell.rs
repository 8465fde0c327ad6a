//! What a shell would have taken away from an entry or replaced in it, had it not been in quotes.

use std::env;

use super::error::PlugInError;
use super::instead::Instead;

/// What a shell takes away.
pub(super) const QUOTES: [char; 2] = ['"', '\''];

/// What is wrong with `entry` if it was meant for a shell.
pub(super) fn shell_text(entry: &str) -> Option<PlugInError> {
    let bare = entry.trim_matches(QUOTES).trim_ascii();
    let what = unexpanded(bare);
    let instead = what.as_ref().and_then(|what| expanded(bare, what)).map(Instead::new);
    let entry = entry.to_owned();
    if entry.starts_with(QUOTES) || entry.ends_with(QUOTES) {
        return Some(PlugInError::Quoted { entry, instead: instead.unwrap_or_else(|| Instead::new(bare)) });
    }
    Some(PlugInError::Unexpanded { entry, what: what?.to_owned(), instead })
}

/// The first thing in `entry` that a shell replaces: `~`, `~USER`, `$NAME` or `${NAME}`.
fn unexpanded(entry: &str) -> Option<&str> {
    if entry.starts_with('~') {
        return entry.split('/').next();
    }
    entry.match_indices('$').find_map(|(at, _)| {
        let from = entry.get(at..)?;
        let length = match from.strip_prefix("${") {
            Some(braced) => braced.find('}').filter(|&end| is_name(braced.get(..end)))? + "${}".len(),
            None => from.get(1..)?.find(|c| !is_of_name(c)).map_or(from.len(), |end| end + 1),
        };
        from.get(..length).filter(|what| is_name(Some(variable(what))))
    })
}

/// `entry` with all of it replaced; `None` if something is not known.
fn expanded(entry: &str, what: &str) -> Option<String> {
    /// More than anybody writes into one path.
    const MOST: usize = 16;
    let (mut done, mut rest, mut what) = (String::new(), entry, Some(what));
    for _ in 0..MOST {
        let Some(found) = what else { break };
        let name = match found.strip_prefix('~') {
            Some("") => "HOME",
            // Another user's directory.
            Some(_) => return None,
            None => variable(found),
        };
        let value = env::var(name).ok().filter(|value| !value.is_empty())?;
        let (before, after) = rest.split_once(found)?;
        done.push_str(before);
        done.push_str(if after.starts_with('/') { value.trim_end_matches('/') } else { &value });
        rest = after;
        what = unexpanded(rest).filter(|more| more.starts_with('$'));
    }
    what.is_none().then(|| done + rest)
}

/// The name in `$NAME` or `${NAME}`.
pub(super) fn variable(what: &str) -> &str {
    what.trim_start_matches(['$', '{']).trim_end_matches('}')
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_name(text: Option<&str>) -> bool {
    text.is_some_and(|text| {
        text.starts_with(|c: char| is_of_name(c) && !c.is_ascii_digit()) && text.chars().all(is_of_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_replaces_is_found() {
        for (entry, what) in [
            ("~", Some("~")),
            ("~/x.so", Some("~")),
            ("~me/x.so", Some("~me")),
            ("/opt/~x.so", None),
            ("$HOME/x.so", Some("$HOME")),
            ("/opt/${ARCH_2}b/x.so", Some("${ARCH_2}")),
            ("a$1$_b-c", Some("$_b")),
            ("/opt/x$.so", None),
            ("/opt/${x.so", None),
            ("/opt/${}/$", None),
            ("gr\u{fc}n$\u{fc}", None),
        ] {
            assert_eq!(unexpanded(entry), what, "{entry}");
        }
    }

    #[test]
    fn all_of_it_is_replaced_or_nothing() {
        // Cargo sets it for every test.
        let Ok(directory) = env::var("CARGO_MANIFEST_DIR") else { return };
        let whole = |entry: &str| expanded(entry, unexpanded(entry).unwrap());
        let twice = "$CARGO_MANIFEST_DIR/a${CARGO_MANIFEST_DIR}b";
        assert_eq!(whole(twice), Some(format!("{directory}/a{directory}b")));
        assert_eq!(whole("$CARGO_MANIFEST_DIR/$NOBODY_HAS_SET_THIS"), None);
        assert_eq!(whole("~nobody-has-this-name/x.so"), None);
        assert_eq!(whole(&"$CARGO_MANIFEST_DIR".repeat(17)), None);
    }
}
