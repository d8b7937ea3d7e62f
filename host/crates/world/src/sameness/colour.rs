//! Colours: hashes of what surrounds an id, refined until they tell no more ids apart.
//!
//! A colour is the same function of the content on both sides, so that ids with different colours can never be matched. Equal colours
//! prove nothing; a renaming is verified text by text before it is believed.

use std::{
    collections::BTreeMap,
    hash::{Hash, Hasher},
};

use crate::GoOn;

use super::shape::{Item, Name, Node, Shape, Variable};

pub(super) type Colour = u64;

/// The colours of both sides' ids, by variable.
#[derive(Debug, Clone)]
pub(super) struct Colours {
    pub(super) left: Vec<Colour>,
    pub(super) right: Vec<Colour>,
}

/// Folds 64-bit words by multiplication. The same content has the same colour in every run, which the hash map's random state would
/// not give; that somebody could construct a collision does no harm beyond a longer search.
struct Mixer(u64);

/// An odd constant with evenly spread bits: 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
            self.write_u64(u64::from_le_bytes(word) ^ ((chunk.len() as u64) << 56));
        }
    }

    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.0.rotate_left(23) ^ word ^ SPREAD) * u128::from(SPREAD);
        #[expect(clippy::cast_possible_truncation, reason = "the halves of the product are folded")]
        let folded = (product as u64) ^ ((product >> 64) as u64);
        self.0 = folded;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A colour from its parts; `kind` keeps parts of one kind from being read as another's.
pub(super) fn mix(kind: u8, parts: impl Hash) -> Colour {
    let mut mixer = Mixer(u64::from(kind));
    parts.hash(&mut mixer);
    mixer.finish()
}

/// The colours before anything is known but the ids' prefixes.
pub(super) fn blank(left: &Shape, right: &Shape) -> Colours {
    let of = |shape: &Shape| shape.ids.iter().map(|id| mix(0, &id.prefix)).collect();
    Colours { left: of(left), right: of(right) }
}

fn colour_of(colours: &[Colour], variable: Variable) -> Colour {
    colours.get(variable).copied().unwrap_or_default()
}

pub(super) fn name_colour(name: &Name, colours: &[Colour]) -> Colour {
    match name {
        Name::Fixed(text) => mix(1, text),
        Name::Id(variable) => mix(2, colour_of(colours, *variable)),
    }
}

pub(super) fn node_colour(node: &Node, colours: &[Colour]) -> Colour {
    match node {
        Node::Fixed(text) => mix(3, text),
        Node::Id(variable) => mix(4, colour_of(colours, *variable)),
        Node::Array(elements) => {
            mix(5, elements.iter().map(|element| node_colour(element, colours)).collect::<Vec<_>>())
        }
        Node::Object(members) => {
            let mut parts: Vec<_> = members
                .iter()
                .map(|(name, member)| (name_colour(name, colours), node_colour(member, colours)))
                .collect();
            parts.sort_unstable();
            mix(6, parts)
        }
    }
}

pub(super) fn item_colour(item: &Item, colours: &[Colour]) -> Colour {
    mix(7, (&item.collection, name_colour(&item.key, colours), node_colour(&item.node, colours)))
}

/// Calls `visit` with every id of the item and a hash of where it stands.
fn occurrences(item: &Item, colours: &[Colour], visit: &mut impl FnMut(Variable, Colour)) {
    if let Name::Id(variable) = item.key {
        visit(variable, mix(8, 0));
    }
    node_occurrences(&item.node, colours, mix(9, 0), visit);
}

fn node_occurrences(node: &Node, colours: &[Colour], path: Colour, visit: &mut impl FnMut(Variable, Colour)) {
    match node {
        Node::Fixed(_) => {}
        Node::Id(variable) => visit(*variable, mix(10, path)),
        Node::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                node_occurrences(element, colours, mix(11, (path, index)), visit);
            }
        }
        Node::Object(members) => {
            for (name, member) in members {
                if let Name::Id(variable) = name {
                    visit(*variable, mix(12, (path, node_colour(member, colours))));
                }
                node_occurrences(member, colours, mix(13, (path, name_colour(name, colours))), visit);
            }
        }
    }
}

/// One round: each id's colour takes in the colours of all places where it stands. `None`: given up.
fn round(shape: &Shape, colours: &[Colour], items: &[Colour], go_on: GoOn<'_>) -> Option<Vec<Colour>> {
    let mut places: Vec<Vec<Colour>> = vec![Vec::new(); colours.len()];
    for (item, whole) in shape.items.iter().zip(items) {
        if !go_on() {
            return None;
        }
        occurrences(item, colours, &mut |variable, place| {
            if let Some(found) = places.get_mut(variable) {
                found.push(mix(14, (whole, place)));
            }
        });
    }
    let refined = colours.iter().zip(&mut places).map(|(colour, places)| {
        places.sort_unstable();
        mix(15, (colour, &*places))
    });
    Some(refined.collect())
}

/// The ids of each colour.
pub(super) fn classes(colours: &[Colour]) -> BTreeMap<Colour, Vec<Variable>> {
    let mut classes: BTreeMap<Colour, Vec<Variable>> = BTreeMap::new();
    for (variable, colour) in colours.iter().enumerate() {
        classes.entry(*colour).or_default().push(variable);
    }
    classes
}

fn sorted(colours: &[Colour]) -> Vec<Colour> {
    let mut sorted = colours.to_vec();
    sorted.sort_unstable();
    sorted
}

/// The colours of both sides' documents, where both have the same colours equally often, ids and documents.
fn balanced(
    (left, right): (&Shape, &Shape),
    colours: Colours,
    go_on: GoOn<'_>,
) -> Result<(Colours, [Vec<Colour>; 2]), Unrefined> {
    let items = |shape: &Shape, colours: &[Colour]| {
        shape.items.iter().map(|item| go_on().then(|| item_colour(item, colours))).collect::<Option<Vec<_>>>()
    };
    if sorted(&colours.left) != sorted(&colours.right) {
        return Err(Unrefined::Unbalanced(colours));
    }
    let (Some(ours), Some(theirs)) = (items(left, &colours.left), items(right, &colours.right)) else {
        return Err(Unrefined::GivenUp);
    };
    if sorted(&ours) == sorted(&theirs) { Ok((colours, [ours, theirs])) } else { Err(Unrefined::Unbalanced(colours)) }
}

/// Why a refinement has no result.
pub(super) enum Unrefined {
    /// These colours prove that the sides differ.
    Unbalanced(Colours),
    /// The visits are used up.
    OutOfVisits,
    /// Nobody waits for it any more.
    GivenUp,
}

/// Refines until no round tells more ids apart, which takes at most as many rounds as there are ids. Takes its work off `visits`.
pub(super) fn refine(
    (left, right): (&Shape, &Shape),
    colours: Colours,
    visits: &mut usize,
    go_on: GoOn<'_>,
) -> Result<Colours, Unrefined> {
    let mut count = classes(&colours.left).len();
    let (mut colours, mut items) = balanced((left, right), colours, go_on)?;
    // With as many colours as ids there is nothing left to tell apart.
    while count < colours.left.len() {
        *visits = visits.checked_sub(left.items.len() + right.items.len()).ok_or(Unrefined::OutOfVisits)?;
        let [ours, theirs] = &items;
        let next = (round(left, &colours.left, ours, go_on), round(right, &colours.right, theirs, go_on));
        let (Some(ours), Some(theirs)) = next else { return Err(Unrefined::GivenUp) };
        (colours, items) = balanced((left, right), Colours { left: ours, right: theirs }, go_on)?;
        let refined = classes(&colours.left).len();
        if refined <= count {
            break;
        }
        count = refined;
    }
    Ok(colours)
}

/// For each id, whether it shares a document with another id whose class has several members.
pub(super) fn shares_documents(shape: &Shape, colours: &[Colour], ambiguous: &dyn Fn(Colour) -> bool) -> Vec<bool> {
    let mut shares = vec![false; colours.len()];
    for item in &shape.items {
        let mut found: Vec<Variable> = Vec::new();
        occurrences(item, colours, &mut |variable, _| {
            if ambiguous(colour_of(colours, variable)) && !found.contains(&variable) {
                found.push(variable);
            }
        });
        if found.len() > 1 {
            for variable in found {
                if let Some(share) = shares.get_mut(variable) {
                    *share = true;
                }
            }
        }
    }
    shares
}
