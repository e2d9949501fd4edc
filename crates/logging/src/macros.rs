//! The macros to log with.

/// Logs a line: `log!(ROUTER_CORE, Info, "[C{id}] Connection Closed")`.
///
/// The module is written as the log shows it, the level as a variant of [`Level`](crate::Level). The text is formatted
/// only if someone wants the line; until then the cost is one relaxed load and a branch.
#[macro_export]
macro_rules! log {
    ($module:ident, $level:ident, $($text:tt)+) => {
        if $crate::raised($crate::Module::$module, $crate::Level::$level) {
            $crate::write(
                $crate::Module::$module,
                $crate::Level::$level,
                Some($crate::Origin { file: file!(), line: line!() }),
                format_args!($($text)+),
            );
        }
    };
}

/// Logs a line as [`log!`](crate::log!) does, also when its module and level are not enabled.
#[macro_export]
macro_rules! log_forced {
    ($module:ident, $level:ident, $($text:tt)+) => {
        $crate::force(
            $crate::Module::$module,
            $crate::Level::$level,
            Some($crate::Origin { file: file!(), line: line!() }),
            format_args!($($text)+),
        )
    };
}
