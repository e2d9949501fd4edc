//! Finding a link by name, when a peer attaches it.

use slab::Slab;

use crate::link::Link;

/// Link indices, sorted by session, direction and name: four bytes a link, and a binary search per attach.
/// Links of the same name are in the order in which they were attached.
#[derive(Debug, Default)]
pub(crate) struct Names {
    sorted: Vec<u32>,
}

impl Names {
    pub(crate) fn insert(&mut self, links: &Slab<Link>, link: u32) {
        let name = key(links, link);
        let place = self.sorted.partition_point(|&other| key(links, other) <= name);
        self.sorted.insert(place, link);
    }

    pub(crate) fn remove(&mut self, links: &Slab<Link>, link: u32) {
        let name = key(links, link);
        let first = self.sorted.partition_point(|&other| key(links, other) < name);
        if let Some(place) = self.sorted[first..].iter().position(|&other| other == link) {
            self.sorted.remove(first + place);
        }
    }

    /// The links of this name and direction in the session.
    pub(crate) fn find<'n>(
        &'n self,
        links: &'n Slab<Link>,
        session: u32,
        sender: bool,
        name: &'n str,
    ) -> impl Iterator<Item = u32> + 'n {
        let name = Some((session, sender, name));
        let first = self.sorted.partition_point(move |&other| key(links, other) < name);
        self.sorted[first..].iter().copied().take_while(move |&other| key(links, other) == name)
    }

    /// Forgets the links of a session, all at once: one by one would cost the square of their number.
    pub(crate) fn remove_session(&mut self, links: &Slab<Link>, session: u32) {
        self.sorted.retain(|&link| links.get(link as usize).is_some_and(|link| link.session != session));
    }

    pub(crate) fn clear(&mut self) {
        self.sorted = Vec::new();
    }

    pub(crate) fn shrink(&mut self) {
        self.sorted.shrink_to_fit();
    }
}

fn key(links: &Slab<Link>, link: u32) -> Option<(u32, bool, &str)> {
    links.get(link as usize).map(|link| (link.session, link.sender, &*link.name))
}
