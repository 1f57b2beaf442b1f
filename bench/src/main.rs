//! Measures porous beside other protocols. See `bench/README.md`.

fn main() -> std::io::Result<()> {
    porous_bench::main(None)
}
