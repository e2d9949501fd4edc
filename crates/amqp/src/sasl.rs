//! The five SASL frame bodies (part 5, section 5.3.3).

use crate::Symbol;

/// Outcome codes of SASL (section 5.3.3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaslCode { Ok = 0, Auth = 1, Sys = 2, SysPerm = 3, SysTemp = 4 }

/// A SASL frame body.
#[derive(Clone, Debug, PartialEq)]
pub enum SaslFrame {
    Mechanisms(Vec<Symbol>),
    Init { mechanism: Symbol, initial_response: Option<Vec<u8>>, hostname: Option<String> },
    Challenge(Vec<u8>),
    Response(Vec<u8>),
    Outcome { code: SaslCode, additional_data: Option<Vec<u8>> },
}
// Helper to write: decode(body) / encode(&self, out).
