//! The needs graph as a picture: a tree of text, Mermaid, DOT, JSON and SVG.
//!
//! A [`Drawing`] is the data of a picture: objects with their state, needs with the fields they come from, loops. The
//! functions of this module turn it into text. The same graph gives the same text to the byte, in whatever order its
//! objects came.
//!
//! Names and messages of objects are hostile: each form escapes what would mean something in it, and cuts what is long.
//!
//! # Size
//! Nothing here recurses. All forms but one say everything, in time linear in objects and needs. A picture of thousands
//! of objects helps nobody, so [`svg`] draws at most [`LARGEST`] and says how many are left out.

mod dot;
mod json;
mod layout;
mod mermaid;
mod model;
mod select;
mod state;
mod svg;
mod tree;
mod words;

pub use dot::dot;
pub use json::json;
pub use mermaid::{MERMAID_EDGES, mermaid};
pub use model::{Drawing, Edge, EdgeId, Look, Node, NodeId, State, Tangle};
pub use select::{Way, cone};
pub use state::{Evidence, look, looks};
pub use svg::{LARGEST, STYLE, Styling, svg};
pub use tree::{Charset, TreeOptions, tree};
