//! What Cyrus SASL has to say, in our log.

use cyrus::LogLevel;

/// Logs a line of the library's.
pub fn tell(level: LogLevel, text: &str) {
    match level {
        LogLevel::Error => logging::log!(SERVER, Warning, "Cyrus SASL: {text}"),
        // Each failure is logged with more by whoever sees it.
        LogLevel::Failure | LogLevel::Warning | LogLevel::Note => logging::log!(SERVER, Debug, "Cyrus SASL: {text}"),
    }
}
