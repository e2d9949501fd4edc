//! The whole network in one picture: every router, what connects them and what that costs, and the path from each to
//! each.

mod dot;
mod picture;
mod survey;
mod svg;
mod text;

use std::io::Write;

use crate::client::{Client, ConnectOptions};
use crate::old_tools::Ended;

/// How the picture is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For terminals.
    Text,
    /// For Graphviz.
    Dot,
    /// For browsers.
    Svg,
}

/// Asks all routers of the network that the management node at `address` belongs to, and draws what they say.
///
/// # Errors
/// If the first router does not answer, or if the output does not take what is drawn. That another router does not
/// answer is shown.
pub fn show(form: Form, options: &ConnectOptions, address: &str, out: &mut dyn Write) -> Result<(), Ended> {
    let mut client = Client::connect(options)?;
    let picture = survey::ask(&mut client, address)?;
    client.close();
    out.write_all(picture.drawn(form).as_bytes())?;
    Ok(())
}

impl picture::Picture {
    fn drawn(&self, form: Form) -> String {
        match form {
            Form::Text => text::draw(self),
            Form::Dot => dot::draw(self),
            Form::Svg => svg::draw(self),
        }
    }
}
