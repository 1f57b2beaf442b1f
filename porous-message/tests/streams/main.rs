//! Streams as a whole: anything that they can be told to do, with any value and any bytes; and the
//! examples of the document.

mod draw;
mod examine;
mod examples;
mod properties;
mod shape;
