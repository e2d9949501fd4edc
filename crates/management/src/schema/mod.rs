//! The schema: which entity types there are, what attributes and operations they have, and what values are valid.
//!
//! The tables are constants, one file per group of entities. Names, types, defaults and order are the old router's;
//! the descriptions are our own.

mod entity_type;
mod invalid;

pub use entity_type::{Attribute, AttributeType, DefaultValue, EntityType, PREFIX};
pub use invalid::{Class, Invalid};
