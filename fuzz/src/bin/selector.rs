//! Selectors: any text is an expression, or a mistake that points into the text; any message matches it or does not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use selector::{Context, Selector};

// The text ends at the first zero byte; what follows is the message.
fuzz_target!(|data: &[u8]| {
    let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (text, message) = data.split_at(end);
    let Ok(text) = std::str::from_utf8(text) else { return };
    let (parsed, peak) = fuzz::peak(|| Selector::parse(text));
    assert!(peak < 16 * 1024 + 400 * text.len(), "{peak} bytes held for a selector of {}", text.len());
    match parsed {
        Ok(selector) => {
            let (_, peak) = fuzz::peak(|| {
                let context = Context { delivery_count: message.get(1).map(|count| u32::from(*count)) };
                selector.matches_with(message.get(1..).unwrap_or_default(), &context)
            });
            // What is wrong with a malformed message is told by the decoder in a box, with the descriptor that it found.
            let message = message.get(1..).unwrap_or_default();
            let most = if amqp::message::Message::decode(message).is_ok() { 0 } else { 64 + 2 * message.len() };
            assert!(peak <= most, "evaluation allocates {peak} bytes");
        }
        Err(error) => {
            assert!(text.is_char_boundary(error.offset), "{error}");
            assert!(!error.remedy.is_empty() && !error.expected.is_empty() && !error.found.is_empty());
        }
    }
});
