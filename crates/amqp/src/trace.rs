//! Frames as text, in the form that scripts parse (spec/router.md 7.4).
// Helper to write:
//   pub fn frame(out: &mut String, outgoing: bool, channel: u16, body: &[u8])   e.g. "0 -> @open(16) [container-id=\"QDR\", ...]"
//   works on raw bytes (so that just the fields present are shown), never fails: undecodable rest is shown as quoted bytes.
//   pub fn sasl_frame(...), header(...) ("  -> AMQP", "  <- SASL", "  -> EOS").
//   pub fn value(out, &Value): Proton data format ({:product="x", "k"=1}, @<symbol>[:a, :"b:c"], b"\x00"), used for logs too.
