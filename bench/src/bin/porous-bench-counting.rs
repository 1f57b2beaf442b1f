//! The same program as `porous-bench`, with an allocator that counts. `porous-bench cpu` runs it for the columns
//! of allocations and heap; all other columns come from the program without the counts, which take time.

use allocation_counter::measure;
use porous_bench::Allocations;

fn main() -> std::io::Result<()> {
    porous_bench::main(Some(|work| {
        let info = measure(work);
        Allocations {
            count: info.count_total,
            held: info.bytes_current,
        }
    }))
}
