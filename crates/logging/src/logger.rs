//! Decides what happens with a line.

use crate::TEXT_MAX;
use crate::entry::{Entry, Origin};
use crate::escape::escape;
use crate::level::{Level, LevelMask};
use crate::module::Module;
use crate::ring::Ring;
use crate::settings::{Settings, SettingsError};
use crate::sink::{OpenFailed, Sink, Sinks};
use crate::timestamp::{Clock, TimestampStyle};
use parking_lot::{Mutex, RwLock};
use std::cell::RefCell;
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const LEVELS: usize = Level::ALL.len();
/// `DEFAULT`'s own default, which holds until a configuration says otherwise.
const DEFAULT_MASK: LevelMask = LevelMask::from(Level::Info);
/// Lines of these levels are counted even when nobody wants to read them. Lower ones are too many: a disabled one
/// costs no more than finding out that it is disabled.
const ALWAYS_COUNTED: LevelMask = LevelMask::from(Level::Info);

/// How many lines a module raised: at `trace` and `debug` those that were enabled, above that all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counts([u64; LEVELS]);

impl Counts {
    /// Lines of this level.
    pub fn of(&self, level: Level) -> u64 {
        self.0[level as usize]
    }
}

/// Modules with their settings and sinks, and the latest entries. A process has one: see [`logger`](crate::logger).
pub struct Logger {
    /// Per module: the levels that are written.
    enabled: [AtomicU8; Module::COUNT],
    /// Per module: the levels that are written or counted.
    raised: [AtomicU8; Module::COUNT],
    counts: [[AtomicU64; LEVELS]; Module::COUNT],
    state: RwLock<State>,
    ring: Mutex<Ring>,
}

struct State {
    /// By module index; empty until something is configured.
    configured: Vec<Configured>,
    sinks: Sinks,
    style: Option<TimestampStyle>,
    /// By module index: `configured` with what it inherits; empty until something is configured.
    resolved: Vec<Arc<Resolved>>,
}

#[derive(Clone, Default)]
struct Configured {
    settings: Settings,
    mask: Option<LevelMask>,
    sink: Option<Arc<Sink>>,
}

/// How lines of one module are written.
struct Resolved {
    mask: LevelMask,
    sink: Arc<Sink>,
    clock: Option<Arc<Clock>>,
    with_source: bool,
}

/// How lines are written until something is configured.
static UNCONFIGURED: LazyLock<Arc<Resolved>> = LazyLock::new(|| {
    let clock = Some(Arc::new(Clock::new(&TimestampStyle::default())));
    Arc::new(Resolved { mask: DEFAULT_MASK, sink: Arc::new(Sink::Stderr), clock, with_source: false })
});

thread_local! {
    // One line at a time is put together per thread; keeping the space spares an allocation for each.
    static LINE: RefCell<String> = const { RefCell::new(String::new()) };
}

impl Logger {
    /// A logger with the defaults: `info+` with time, to the standard error output.
    #[allow(clippy::new_without_default, reason = "const, for the static; a second logger is for tests only")]
    pub const fn new() -> Self {
        Logger {
            enabled: [const { AtomicU8::new(DEFAULT_MASK.bits()) }; Module::COUNT],
            raised: [const { AtomicU8::new(DEFAULT_MASK.bits() | ALWAYS_COUNTED.bits()) }; Module::COUNT],
            counts: [const { [const { AtomicU64::new(0) }; LEVELS] }; Module::COUNT],
            state: RwLock::new(State::new()),
            ring: Mutex::new(Ring::new()),
        }
    }

    /// Whether lines of this module and level are written.
    #[inline]
    pub fn enabled(&self, module: Module, level: Level) -> bool {
        self.enabled[module.index()].load(Ordering::Relaxed) & level.bit() != 0
    }

    /// Whether lines of this module and level are written or counted.
    #[inline]
    pub fn raised(&self, module: Module, level: Level) -> bool {
        self.raised[module.index()].load(Ordering::Relaxed) & level.bit() != 0
    }

    /// Counts a line, and writes it if it is enabled.
    pub fn write(&self, module: Module, level: Level, origin: Option<Origin>, text: fmt::Arguments<'_>) {
        if self.enabled(module, level) {
            self.force(module, level, origin, text);
        } else {
            self.count(module, level);
        }
    }

    /// Counts and writes a line.
    pub fn force(&self, module: Module, level: Level, origin: Option<Origin>, text: fmt::Arguments<'_>) {
        self.count(module, level);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let resolved = self.state.read().resolved(module);
        LINE.with(|line| match line.try_borrow_mut() {
            Ok(mut line) => self.emit(&resolved, &mut line, (module, level, origin, time), text),
            // Formatting the text logs in its turn: the inner line gets space of its own.
            Err(_) => self.emit(&resolved, &mut String::new(), (module, level, origin, time), text),
        });
    }

    fn count(&self, module: Module, level: Level) {
        self.counts[module.index()][level as usize].fetch_add(1, Ordering::Relaxed);
    }

    fn emit(
        &self,
        resolved: &Resolved,
        line: &mut String,
        (module, level, origin, time): (Module, Level, Option<Origin>, Duration),
        text: fmt::Arguments<'_>,
    ) {
        line.clear();
        if let Some(clock) = &resolved.clock {
            clock.append(time, line);
            line.push(' ');
        }
        // Writing to a String cannot fail by itself; an error of the text's own Display leaves the text short.
        let _ = write!(line, "{module} ({level}) ");
        let start = line.len();
        let _ = line.write_fmt(text);
        escape(line, start);
        let end = line.floor_char_boundary(start.saturating_add(TEXT_MAX).min(line.len()));
        line.truncate(end);
        self.ring.lock().push(module, level, &line[start..], origin, time);

        if let (true, Some(origin)) = (resolved.with_source, origin) {
            let _ = write!(line, " ({}:{})", origin.file, origin.line);
        }
        line.push('\n');
        resolved.sink.write(level, line.as_bytes());
    }

    /// Replaces a module's settings. On an error nothing has changed.
    ///
    /// # Errors
    /// See [`configure`](crate::configure).
    pub fn configure(&self, module: Module, settings: Settings) -> Result<(), SettingsError> {
        let mask = settings.mask()?;
        let mut state = self.state.write();
        let sink = settings.output_file.as_deref().map(|name| state.sinks.get(name)).transpose()?;
        state.configured.resize(Module::COUNT, Configured::default());
        state.configured[module.index()] = Configured { settings, mask, sink };
        self.publish(&mut state);
        Ok(())
    }

    /// See [`reopen`](crate::reopen).
    pub fn reopen(&self) -> Vec<OpenFailed> {
        let mut state = self.state.write();
        let State { configured, sinks, .. } = &mut *state;
        sinks.forget();
        let mut failed = Vec::new();
        for own in configured {
            let Some(name) = &own.settings.output_file else { continue };
            match sinks.get(name) {
                Ok(sink) => own.sink = Some(sink),
                Err(error) if failed.contains(&error) => {}
                Err(error) => failed.push(error),
            }
        }
        self.publish(&mut state);
        failed
    }

    /// Makes changed settings take effect.
    fn publish(&self, state: &mut State) {
        state.resolve();
        for &module in Module::ALL {
            let mask = state.resolved(module).mask.bits();
            self.enabled[module.index()].store(mask, Ordering::Relaxed);
            self.raised[module.index()].store(mask | ALWAYS_COUNTED.bits(), Ordering::Relaxed);
        }
    }

    /// What [`Logger::configure`] was last given for a module.
    pub fn settings(&self, module: Module) -> Settings {
        self.state.read().configured.get(module.index()).map(|own| own.settings.clone()).unwrap_or_default()
    }

    /// Sets how lines begin.
    pub fn set_timestamp_style(&self, style: TimestampStyle) {
        let mut state = self.state.write();
        state.style = Some(style);
        self.publish(&mut state);
    }

    /// The newest entries, oldest first.
    pub fn recent(&self, limit: Option<usize>) -> Vec<Entry> {
        self.ring.lock().newest(limit)
    }

    /// How many lines a module raised at each level.
    pub fn counts(&self, module: Module) -> Counts {
        Counts(std::array::from_fn(|level| self.counts[module.index()][level].load(Ordering::Relaxed)))
    }
}

impl State {
    const fn new() -> Self {
        State { configured: Vec::new(), sinks: Sinks::new(), style: None, resolved: Vec::new() }
    }

    fn resolved(&self, module: Module) -> Arc<Resolved> {
        Arc::clone(self.resolved.get(module.index()).unwrap_or(&UNCONFIGURED))
    }

    /// Works out what each module inherits.
    fn resolve(&mut self) {
        let nothing = Configured::default();
        let default = self.configured.get(Module::Default.index()).unwrap_or(&nothing);
        let stderr = Arc::new(Sink::Stderr);
        let clock = Arc::new(Clock::new(&self.style.clone().unwrap_or_default()));
        let resolve = |module: &Module| {
            let own = self.configured.get(module.index()).unwrap_or(&nothing);
            let inherit = |get: fn(&Settings) -> Option<bool>| get(&own.settings).or_else(|| get(&default.settings));
            let sink = Arc::clone(own.sink.as_ref().or(default.sink.as_ref()).unwrap_or(&stderr));
            let with_time = inherit(|settings| settings.include_timestamp).unwrap_or(true);
            Arc::new(Resolved {
                mask: own.mask.or(default.mask).unwrap_or(DEFAULT_MASK),
                clock: (with_time && !sink.has_own_timestamp()).then(|| Arc::clone(&clock)),
                sink,
                with_source: inherit(|settings| settings.include_source).unwrap_or(false),
            })
        };
        self.resolved = Module::ALL.iter().map(resolve).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A logger that writes everything to a file of its own.
    struct Fixture {
        logger: Logger,
        path: PathBuf,
    }

    impl Fixture {
        fn new(name: &str, settings: Settings) -> Self {
            let path = std::env::temp_dir().join(format!("logging-{name}-{}", std::process::id()));
            let output_file = Some(path.to_string_lossy().into_owned());
            let logger = Logger::new();
            logger.configure(Module::Default, Settings { output_file, ..settings }).unwrap();
            Fixture { logger, path }
        }

        fn untimed(name: &str, enable: &str) -> Self {
            let enable = Some(enable.to_owned());
            Self::new(name, Settings { enable, include_timestamp: Some(false), ..Settings::default() })
        }

        fn write(&self, module: Module, level: Level, text: &str) {
            self.logger.write(module, level, Some(Origin { file: "src/x.rs", line: 7 }), format_args!("{text}"));
        }

        fn written(&self) -> String {
            std::fs::read_to_string(&self.path).unwrap()
        }
    }

    impl Drop for Fixture {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    fn enable(levels: &str) -> Settings {
        Settings { enable: Some(levels.to_owned()), ..Settings::default() }
    }

    #[test]
    fn a_line_has_module_level_and_text() {
        let log = Fixture::untimed("line", "info+");
        log.write(Module::RouterCore, Level::Info, "[C1] Connection Closed");
        assert_eq!(log.written(), "ROUTER_CORE (info) [C1] Connection Closed\n");
    }

    #[test]
    fn what_others_say_makes_no_line_of_its_own_and_commands_no_terminal() {
        let log = Fixture::untimed("escaped", "info+");
        log.write(Module::RouterCore, Level::Info, "target={a\nSERVER (critical) b\u{1b}[2J\u{9b}\u{202e}\t}");
        assert_eq!(log.written(), "ROUTER_CORE (info) target={a\\nSERVER (critical) b\\u{1b}[2J\\u{9b}\\u{202e}\t}\n");
    }

    #[test]
    fn a_line_begins_with_the_time_unless_told_otherwise() {
        let log = Fixture::new("time", enable("info+"));
        log.logger.set_timestamp_style(TimestampStyle { format: Some("%Y".into()), utc: true });
        log.write(Module::Server, Level::Info, "x");
        let written = log.written();
        assert!(written.starts_with("20") && written.ends_with(" SERVER (info) x\n"), "{written}");
    }

    #[test]
    fn the_source_is_named_on_request() {
        let log = Fixture::untimed("source", "info+");
        log.logger.configure(Module::Server, Settings { include_source: Some(true), ..Settings::default() }).unwrap();
        log.write(Module::Server, Level::Info, "x");
        assert_eq!(log.written(), "SERVER (info) x (src/x.rs:7)\n");
    }

    #[test]
    fn a_file_that_was_moved_away_is_begun_anew_when_asked() {
        let log = Fixture::untimed("rotated", "info+");
        let moved = log.path.with_extension("1");
        log.write(Module::Server, Level::Info, "before");
        std::fs::rename(&log.path, &moved).unwrap();
        log.write(Module::Server, Level::Info, "still there");
        assert_eq!(log.logger.reopen(), []);
        log.write(Module::Server, Level::Info, "after");
        assert_eq!(log.written(), "SERVER (info) after\n");
        assert!(std::fs::read_to_string(&moved).unwrap().ends_with("still there\n"));
        let _ = std::fs::remove_file(moved);
    }

    #[test]
    fn a_module_inherits_what_it_does_not_set() {
        let log = Fixture::untimed("inherit", "error+");
        log.logger.configure(Module::Server, enable("debug")).unwrap();
        log.write(Module::Server, Level::Debug, "own level, inherited file");
        log.write(Module::Router, Level::Debug, "not enabled");
        assert_eq!(log.written(), "SERVER (debug) own level, inherited file\n");
    }

    #[test]
    fn a_refused_change_changes_nothing() {
        let log = Fixture::untimed("refused", "info+");
        let bad_file = Settings { output_file: Some("/nonexistent/x".into()), ..enable("none") };
        let refused = log.logger.configure(Module::Default, bad_file);
        log.write(Module::Server, Level::Info, "still here");
        assert!(refused.is_err() && log.written().contains("still here"));
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        let log = Fixture::untimed("long", "info+");
        log.write(Module::Server, Level::Info, &"é".repeat(TEXT_MAX));
        assert_eq!(log.written(), format!("SERVER (info) {}\n", "é".repeat(TEXT_MAX / 2)));
    }

    #[test]
    fn only_enabled_lines_are_kept_for_management() {
        let log = Fixture::untimed("ring", "info+");
        log.write(Module::Server, Level::Debug, "hidden");
        log.write(Module::Server, Level::Info, "shown");
        let texts: Vec<_> = log.logger.recent(None).into_iter().map(|entry| entry.text).collect();
        assert_eq!(texts, ["shown"]);
    }

    #[test]
    fn lines_above_debug_are_counted_even_if_unwanted() {
        let log = Fixture::untimed("counts", "none");
        log.write(Module::Server, Level::Error, "unwanted");
        assert_eq!(log.logger.counts(Module::Server).of(Level::Error), 1);
    }

    #[test]
    fn a_forced_line_is_written_whatever_is_enabled() {
        let log = Fixture::untimed("forced", "none");
        log.logger.force(Module::Protocol, Level::Trace, None, format_args!("[C1]:FRAME: 0 -> @close(24) []"));
        assert_eq!(log.written(), "PROTOCOL (trace) [C1]:FRAME: 0 -> @close(24) []\n");
    }

    #[test]
    fn a_text_that_logs_while_it_is_formatted_does_not_mix_with_it() {
        struct Chatty<'l>(&'l Logger);
        impl fmt::Display for Chatty<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.write(Module::Agent, Level::Info, None, format_args!("inner"));
                f.write_str("outer")
            }
        }
        let log = Fixture::untimed("nested", "info+");
        log.logger.write(Module::Server, Level::Info, None, format_args!("{}", Chatty(&log.logger)));
        assert_eq!(log.written(), "AGENT (info) inner\nSERVER (info) outer\n");
    }

    #[test]
    fn threads_do_not_mix_their_lines() {
        let log = Fixture::untimed("threads", "info+");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..100).for_each(|_| log.write(Module::Server, Level::Info, &"x".repeat(200))));
            }
        });
        let written = log.written();
        assert_eq!(written.lines().filter(|line| line.len() == "SERVER (info) ".len() + 200).count(), 400);
    }
}
