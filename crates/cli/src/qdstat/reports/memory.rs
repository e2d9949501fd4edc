//! `-m`: pools of memory.

use management::Attributes;

use super::table;
use crate::qdstat::cells::{commas, plain, size, size_of};
use crate::qdstat::table::Block;

/// `limit`: at most so many rows; 0 for all. The summary is about all in any case.
pub(super) fn blocks(pools: &[Attributes], router: &Attributes, limit: usize) -> Vec<Block> {
    let mut known: Vec<&Attributes> = pools.iter().filter(|pool| pool.contains("totalAllocFromHeap")).collect();
    if known.is_empty() {
        return vec![Block::Line("No memory statistics available".to_owned())];
    }
    known.sort_by_key(|pool| plain(pool, "typeName"));
    let headers = vec!["type", "size", "batch", "thread-max", "total", "in-threads", "rebal-in", "rebal-out"];
    let pooled = known.iter().map(|pool| bytes(pool)).fold(0, u64::saturating_add);
    let shown = known.iter().take(if limit == 0 { usize::MAX } else { limit });
    let mut blocks = table("Memory Pools", headers, shown.map(|pool| row(pool)).collect());
    blocks.push(Block::blank());
    blocks.extend(table(
        "Memory Summary",
        vec!["VmSize", "Pooled"],
        vec![vec![size_of(router, "memoryUsage"), size(pooled)]],
    ));
    blocks
}

fn row(pool: &Attributes) -> Vec<String> {
    let numbers = [
        "typeSize",
        "transferBatchSize",
        "localFreeListMax",
        "totalAllocFromHeap",
        "heldByThreads",
        "batchesRebalancedToThreads",
        "batchesRebalancedToGlobal",
    ];
    [plain(pool, "typeName")].into_iter().chain(numbers.map(|name| commas(pool, name))).collect()
}

fn bytes(pool: &Attributes) -> u64 {
    let number = |name| pool.integer(name).and_then(|number| u64::try_from(number).ok()).unwrap_or(0);
    number("typeSize").saturating_mul(number("totalAllocFromHeap").saturating_sub(number("totalFreeToHeap")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(name: &str) -> Attributes {
        Attributes::new()
            .with("typeName", name.into())
            .with("typeSize", 2048_u64.into())
            .with("totalAllocFromHeap", 1024_u64.into())
    }

    #[test]
    fn pools_are_sorted_and_summed_up_beyond_the_limit() {
        let router = Attributes::new().with("memoryUsage", (5_u64 << 20).into());
        let blocks = blocks(&[pool("b"), pool("a")], &router, 1);
        let [Block::Table(pools), _, Block::Table(summary)] = &blocks[..] else { panic!("two tables") };
        assert_eq!(pools.rows.iter().map(|row| &row[..2]).collect::<Vec<_>>(), [["a", "2,048"]]);
        assert_eq!(summary.rows, [["5.00 MiB", "4.00 MiB"]]);
    }

    #[test]
    fn a_router_without_pools_says_so() {
        let blocks = blocks(&[Attributes::new().with("typeName", "a".into())], &Attributes::new(), 0);
        assert_eq!(blocks, [Block::Line("No memory statistics available".to_owned())]);
    }
}
