//! Streams as a whole: any operation of a stream, with any value and any bytes; and the examples of the
//! document.

mod draw;
mod examine;
mod examples;
mod properties;
mod shape;
