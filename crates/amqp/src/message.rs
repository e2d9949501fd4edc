//! Message sections (part 3, section 3.2): a validating scanner that borrows, and an owned message for those who need
//! one.

mod annotations;
mod header;
mod owned;
mod pieces;
mod properties;
mod scanner;
mod section;

pub use annotations::{
    AnnotationsError, MessageAnnotations, RouterAnnotations, Trace, UserAnnotations, write_message_annotations,
};
pub use header::Header;
pub use owned::{Body, Message};
pub use pieces::Pieces;
pub use properties::{Properties, PropertiesView, RoutingProperties};
pub use scanner::{Scan, Scanner};
pub use section::{Section, SectionKind};
