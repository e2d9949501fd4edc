//! The configuration parser: any text is a configuration, or a list of mistakes that point into the text.
#![no_main]

use config::{Config, Source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // The name decides between the two forms of the language.
    for name in ["fuzz.conf", "fuzz.json"] {
        let (_, peak) = fuzz::peak(|| read(name, text));
        assert!(peak < 4 * 1024 * 1024 + 4096 * data.len(), "{peak} bytes held for an input of {}", data.len());
    }
});

fn read(name: &str, text: &str) {
    match Config::from_sources(&Source::new(name, text), &mut |_| Ok(Vec::new())) {
        Ok(config) => drop(config),
        Err(errors) => {
            let lines = text.split('\n').count();
            for place in errors.problems.iter().filter_map(|problem| problem.place.as_ref()) {
                assert!((1..=lines).contains(&usize::try_from(place.line).expect("a line number fits")), "{place}");
                assert!(place.column >= 1, "{place}");
            }
            assert!(!errors.start_up_message().is_empty());
            assert!(!errors.to_string().is_empty());
        }
    }
}
