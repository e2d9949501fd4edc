//! The time at the beginning of a line.

use std::cell::RefCell;
use std::ffi::CString;
use std::fmt::Write;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The old router's default: microseconds in a hole that `strftime` leaves open, and the offset from UTC.
const DEFAULT_FORMAT: &str = "%Y-%m-%d %H:%M:%S.%%06lu %z";

/// How times are written.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TimestampStyle {
    /// A `strftime` format; `None` for date, time with microseconds, and offset from UTC. What it leaves of the form `%06lu` (written `%%06lu`) becomes the microseconds.
    pub format: Option<String>,
    /// UTC instead of local time.
    pub utc: bool,
}

/// A style made ready for use. `generation` tells cached renderings of one style from those of another.
#[derive(Debug)]
pub(crate) struct Clock {
    format: CString,
    utc: bool,
    generation: u64,
}

/// What `strftime` made of one second: the text before and after the microseconds, and their width.
struct Second {
    generation: u64,
    epoch_seconds: u64,
    before: String,
    hole: Option<usize>,
    after: String,
}

thread_local! {
    // strftime and the zone look-up cost more than the rest of a line; lines come many to the second.
    static LAST_SECOND: RefCell<Option<Second>> = const { RefCell::new(None) };
}

impl Clock {
    pub(crate) fn new(style: &TimestampStyle) -> Self {
        static GENERATIONS: AtomicU64 = AtomicU64::new(0);
        let format = style.format.as_deref().unwrap_or(DEFAULT_FORMAT);
        Clock { format: c_format(format), utc: style.utc, generation: GENERATIONS.fetch_add(1, Ordering::Relaxed) }
    }

    /// Appends the time, given since the Unix epoch.
    pub(crate) fn append(&self, time: Duration, line: &mut String) {
        LAST_SECOND.with_borrow_mut(|last| {
            let fresh = last
                .as_ref()
                .is_some_and(|second| second.generation == self.generation && second.epoch_seconds == time.as_secs());
            if !fresh {
                *last = Some(self.render(time.as_secs()));
            }
            if let Some(second) = last {
                line.push_str(&second.before);
                if let Some(width) = second.hole {
                    // Writing to a String cannot fail.
                    let _ = write!(line, "{:0width$}", time.subsec_micros());
                }
                line.push_str(&second.after);
            }
        });
    }

    fn render(&self, epoch_seconds: u64) -> Second {
        let text = strftime(&self.format, epoch_seconds, self.utc);
        let (before, hole, after) = match find_hole(&text) {
            Some((range, width)) => (text[..range.start].to_owned(), Some(width), text[range.end..].to_owned()),
            None => (text, None, String::new()),
        };
        Second { generation: self.generation, epoch_seconds, before, hole, after }
    }
}

/// A point in time as `strftime` writes it, in the zone of this machine or in UTC; empty if the format yields nothing or
/// more than 255 bytes.
pub fn time_text(format: &str, epoch_seconds: u64, utc: bool) -> String {
    strftime(&c_format(format), epoch_seconds, utc)
}

/// A format cannot hold a NUL: what follows one would never be seen by strftime.
fn c_format(format: &str) -> CString {
    CString::new(format.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

/// Finds a printf conversion for a number, such as `%06lu`: where it is, and its width.
fn find_hole(text: &str) -> Option<(std::ops::Range<usize>, usize)> {
    for (start, _) in text.match_indices('%') {
        let rest = &text[start + 1..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let conversion = rest[digits..].trim_start_matches('l');
        if conversion.starts_with(['u', 'd', 'i']) {
            let width = rest[..digits].parse().unwrap_or(0);
            // More than any sensible width would only be a way to fill the disk.
            return Some((start..text.len() - conversion.len() + 1, usize::min(width, 20)));
        }
    }
    None
}

/// The time as text; empty if the format yields more than a line should begin with.
#[allow(unsafe_code, reason = "strftime with the system's locale and zone data exists in libc only")]
fn strftime(format: &CString, epoch_seconds: u64, utc: bool) -> String {
    let mut buffer = [0u8; 256];
    let mut broken_down = MaybeUninit::<libc::tm>::zeroed();
    let seconds = epoch_seconds as libc::time_t;
    // SAFETY: all pointers are to live locals; `tm` is plain data for which all zeroes is a valid value, and is filled
    // in by gmtime_r/localtime_r before use; strftime writes at most `buffer.len()` bytes, and returns how many of them
    // (without the NUL) it wrote, or 0.
    let written = unsafe {
        if utc {
            libc::gmtime_r(&seconds, broken_down.as_mut_ptr());
        } else {
            libc::localtime_r(&seconds, broken_down.as_mut_ptr());
        }
        libc::strftime(buffer.as_mut_ptr().cast(), buffer.len(), format.as_ptr(), broken_down.as_ptr())
    };
    String::from_utf8_lossy(&buffer[..written]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::new(1_700_000_000, 42_000);

    fn stamp(format: Option<&str>) -> String {
        let mut line = String::new();
        Clock::new(&TimestampStyle { format: format.map(str::to_owned), utc: true }).append(TIME, &mut line);
        line
    }

    #[test]
    fn the_default_has_date_time_with_microseconds_and_zone() {
        assert_eq!(stamp(None), "2023-11-14 22:13:20.000042 +0000");
    }

    #[test]
    fn microseconds_fill_the_hole_wherever_it_is() {
        assert_eq!(stamp(Some("%%03lu us after %S")), "042 us after 20");
    }

    #[test]
    fn a_format_without_a_hole_is_taken_as_it_is() {
        assert_eq!(stamp(Some("%H:%M")), "22:13");
    }

    #[test]
    fn a_point_in_time_can_be_had_alone() {
        assert_eq!(time_text("%a %b %e %H:%M:%S %Y", TIME.as_secs(), true), "Tue Nov 14 22:13:20 2023");
    }

    #[test]
    fn one_thread_may_write_with_two_styles_within_a_second() {
        let default = stamp(None);
        let seconds = stamp(Some("%S"));
        assert_eq!((default.len(), seconds.as_str()), (32, "20"));
    }
}
