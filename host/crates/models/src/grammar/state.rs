//! Where an output stands in its grammar: a small stack that one byte moves on. The state is plain data of a fixed size, so that a walk
//! over all tokens copies it freely.

use super::Grammar;
use super::number::Digits;
use super::schema::{DEPTH_MAX, Node, NodeId, Property};

/// The call, its tail, the arguments, and values below them.
const FRAMES_MAX: usize = DEPTH_MAX + 4;
/// What stands between an object's or a list's parts.
const SEPARATOR: &[u8] = b", ";
/// The bit of an object's end among its candidates.
const END: u64 = 1 << 63;

/// One level of what is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Frame {
    /// `{"name": "...", "arguments": `, one of the heads `low..high`, which agree in the first `offset` bytes.
    Head { low: u16, high: u16, offset: u16 },
    /// The brace behind the arguments.
    Tail,
    /// A node of which nothing is written yet.
    Start { node: u32 },
    /// One of the literals `low..high`, which agree in the first `offset` bytes.
    Literals { node: u32, low: u32, high: u32, offset: u32 },
    /// Inside a string.
    Text { node: u32, characters: u32, inside: Inside },
    /// Inside a number.
    Number { node: u32, digits: Digits },
    /// A list after `count` items; `offset` bytes of a separator are written.
    List { node: u32, count: u32, offset: u8 },
    /// An object before its property `next`; the candidates agree in the first `offset` bytes.
    Object { node: u32, next: u8, offset: u16, candidates: u64, first: bool },
}

/// Where in a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Inside {
    /// Between characters.
    Between,
    /// After a backslash.
    Escape,
    /// In a character: bytes that follow, and the bounds of the next.
    Character { follow: u8, low: u8, high: u8 },
}

/// A position in a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct State {
    frames: [Frame; FRAMES_MAX],
    depth: u8,
}

/// What a byte did to the topmost level.
enum Step {
    /// It was taken.
    Taken,
    /// It was the last of its level.
    Ended,
    /// It belongs to the level above, this one being complete.
    Above,
    /// It was taken, and a node begins.
    Begins(NodeId),
    /// It is the first byte of a node.
    Within(NodeId),
    /// It cannot stand here.
    No,
}

impl State {
    /// Before the first byte.
    pub(crate) fn start(grammar: &Grammar) -> Self {
        let mut state = Self { frames: [Frame::Tail; FRAMES_MAX], depth: 0 };
        let high = u16::try_from(grammar.heads.len()).unwrap_or(u16::MAX);
        state.push(Frame::Head { low: 0, high, offset: 0 });
        state
    }

    /// Whether the output is complete.
    pub(crate) fn is_done(&self) -> bool {
        self.depth == 0
    }

    fn push(&mut self, frame: Frame) -> bool {
        match self.frames.get_mut(usize::from(self.depth)) {
            Some(slot) => {
                *slot = frame;
                self.depth += 1;
                true
            }
            None => false,
        }
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        // Equal states are equal bits, whatever was there before.
        if let Some(slot) = self.frames.get_mut(usize::from(self.depth)) {
            *slot = Frame::Tail;
        }
    }

    /// The state after one more byte; absent when the byte cannot stand here.
    pub(crate) fn step(mut self, grammar: &Grammar, byte: u8) -> Option<Self> {
        // Each turn takes a level away or begins one, and both are bounded.
        for _ in 0..4 * FRAMES_MAX {
            let top = self.frames.get_mut(usize::from(self.depth.checked_sub(1)?))?;
            if let Frame::Start { node } = *top {
                if let Node::Choice(options) = grammar.node(node)? {
                    return options.iter().find_map(|option| self.replaced(*option)?.step(grammar, byte));
                }
                *top = begun(grammar, node)?;
            }
            match advance(grammar, top, byte) {
                Step::Taken => return Some(self),
                Step::Ended => {
                    self.pop();
                    return Some(self);
                }
                Step::Above => self.pop(),
                Step::Begins(node) => return self.begins(node).then_some(self),
                Step::Within(node) => {
                    if !self.begins(node) {
                        return None;
                    }
                }
                Step::No => return None,
            }
        }
        None
    }

    fn begins(&mut self, node: NodeId) -> bool {
        u32::try_from(node).is_ok_and(|node| self.push(Frame::Start { node }))
    }

    fn replaced(&self, node: NodeId) -> Option<Self> {
        let mut state = *self;
        *state.frames.get_mut(usize::from(state.depth.checked_sub(1)?))? =
            Frame::Start { node: u32::try_from(node).ok()? };
        Some(state)
    }

    /// The fewest bytes that complete the output.
    pub(crate) fn rest(&self, grammar: &Grammar) -> usize {
        self.frames.iter().take(usize::from(self.depth)).map(|frame| rest(grammar, frame)).sum()
    }

    /// The state with counts that do not matter for the next token made equal, as a key for what is allowed next.
    pub(crate) fn key(mut self, grammar: &Grammar, token_bytes_max: usize) -> Self {
        if let Some(Frame::Text { node, characters, .. }) =
            self.depth.checked_sub(1).and_then(|top| self.frames.get_mut(usize::from(top)))
            && let Some(Node::Text { least, most }) = grammar.node(*node)
            && *characters >= *least
            && (*most - *characters) as usize > token_bytes_max
        {
            *characters = *least;
        }
        self
    }
}

/// The level of a node of which nothing is written.
fn begun(grammar: &Grammar, node: u32) -> Option<Frame> {
    Some(match grammar.node(node)? {
        Node::Literals(texts) => Frame::Literals { node, low: 0, high: u32::try_from(texts.len()).ok()?, offset: 0 },
        Node::Number(_) => Frame::Number { node, digits: Digits::default() },
        // The opening byte is taken by `advance`, which tells them by these impossible counts.
        Node::Text { .. } => Frame::Text { node, characters: u32::MAX, inside: Inside::Between },
        Node::List { .. } => Frame::List { node, count: u32::MAX, offset: 0 },
        Node::Object(_) => Frame::Object { node, next: 0, offset: 0, candidates: 0, first: true },
        Node::Choice(_) => return None,
    })
}

fn advance(grammar: &Grammar, frame: &mut Frame, byte: u8) -> Step {
    match frame {
        Frame::Start { .. } => Step::No,
        Frame::Tail => {
            if byte == b'}' {
                Step::Ended
            } else {
                Step::No
            }
        }
        Frame::Head { .. } => head(grammar, frame, byte),
        Frame::Literals { node, low, high, offset } => {
            let Some(Node::Literals(texts)) = grammar.node(*node) else {
                return Step::No;
            };
            literal(texts, (low, high, offset), byte)
        }
        Frame::Text { node, characters, inside } => {
            let Some(Node::Text { least, most }) = grammar.node(*node) else {
                return Step::No;
            };
            text(characters, inside, (*least, *most), byte)
        }
        Frame::Number { node, digits } => {
            let Some(Node::Number(rule)) = grammar.node(*node) else {
                return Step::No;
            };
            match rule.step(*digits, byte) {
                Some(next) => {
                    *digits = next;
                    Step::Taken
                }
                None if rule.shortest(*digits) == Some(0) => Step::Above,
                None => Step::No,
            }
        }
        Frame::List { node, count, offset } => {
            let Some(Node::List { item, least, most }) = grammar.node(*node) else {
                return Step::No;
            };
            list(count, offset, (*item, *least, *most), byte)
        }
        Frame::Object { node, next, offset, candidates, first } => {
            let Some(Node::Object(properties)) = grammar.node(*node) else {
                return Step::No;
            };
            object(properties, (next, offset, candidates, first), byte)
        }
    }
}

/// One byte of the fixed text that leads from the start to a function's arguments.
fn head(grammar: &Grammar, frame: &mut Frame, byte: u8) -> Step {
    let Frame::Head { low, high, offset } = frame else {
        return Step::No;
    };
    let texts = &grammar.heads;
    let narrowed = narrow(
        texts.iter().map(|head| head.text.as_slice()),
        usize::from(*low)..usize::from(*high),
        usize::from(*offset),
        byte,
    );
    let Some(narrowed) = narrowed else {
        return Step::No;
    };
    let next = usize::from(*offset) + 1;
    if let (Some(head), 1) = (texts.get(narrowed.start), narrowed.len())
        && head.text.len() == next
    {
        *frame = Frame::Tail;
        return Step::Begins(head.arguments);
    }
    let short = |value: usize| u16::try_from(value).unwrap_or(u16::MAX);
    (*low, *high, *offset) = (short(narrowed.start), short(narrowed.end), short(next));
    Step::Taken
}

/// One byte of one of several sorted texts.
fn literal(texts: &[Vec<u8>], (low, high, offset): (&mut u32, &mut u32, &mut u32), byte: u8) -> Step {
    let range = *low as usize..*high as usize;
    let Some(narrowed) = narrow(texts.iter().map(Vec::as_slice), range.clone(), *offset as usize, byte) else {
        // Sorted, so a text that is complete here stands first.
        let complete = texts.get(range.start).is_some_and(|text| text.len() == *offset as usize && !range.is_empty());
        return if complete { Step::Above } else { Step::No };
    };
    let next = *offset as usize + 1;
    if narrowed.len() == 1 && texts.get(narrowed.start).is_some_and(|text| text.len() == next) {
        return Step::Ended;
    }
    let long = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    (*low, *high, *offset) = (long(narrowed.start), long(narrowed.end), long(next));
    Step::Taken
}

/// Of the sorted texts in `range`, which agree in the first `offset` bytes, those that go on with `byte`.
fn narrow<'a>(
    texts: impl Iterator<Item = &'a [u8]>,
    range: std::ops::Range<usize>,
    offset: usize,
    byte: u8,
) -> Option<std::ops::Range<usize>> {
    let mut places = texts
        .enumerate()
        .take(range.end)
        .skip(range.start)
        .filter(|(_, text)| text.get(offset) == Some(&byte))
        .map(|(place, _)| place);
    let first = places.next()?;
    Some(first..places.last().unwrap_or(first) + 1)
}

fn text(characters: &mut u32, inside: &mut Inside, (least, most): (u32, u32), byte: u8) -> Step {
    if *characters == u32::MAX {
        *characters = 0;
        return if byte == b'"' { Step::Taken } else { Step::No };
    }
    let next = match (*inside, byte) {
        (Inside::Between, b'"') => {
            return if *characters >= least { Step::Ended } else { Step::No };
        }
        (Inside::Between, _) if *characters >= most => return Step::No,
        (Inside::Between, b'\\') => Inside::Escape,
        (Inside::Between, 0x20..=0x7e) | (Inside::Escape, b'"' | b'\\' | b'n' | b't') => {
            *characters += 1;
            Inside::Between
        }
        // The well-formed byte sequences of UTF-8 (Unicode 16, table 3-7), control characters left out.
        (Inside::Between, 0xc2) => Inside::Character { follow: 1, low: 0xa0, high: 0xbf },
        (Inside::Between, 0xc3..=0xdf) => Inside::Character { follow: 1, low: 0x80, high: 0xbf },
        (Inside::Between, 0xe0) => Inside::Character { follow: 2, low: 0xa0, high: 0xbf },
        (Inside::Between, 0xed) => Inside::Character { follow: 2, low: 0x80, high: 0x9f },
        (Inside::Between, 0xe1..=0xef) => Inside::Character { follow: 2, low: 0x80, high: 0xbf },
        (Inside::Between, 0xf0) => Inside::Character { follow: 3, low: 0x90, high: 0xbf },
        (Inside::Between, 0xf1..=0xf3) => Inside::Character { follow: 3, low: 0x80, high: 0xbf },
        (Inside::Between, 0xf4) => Inside::Character { follow: 3, low: 0x80, high: 0x8f },
        (Inside::Character { follow, low, high }, byte) if (low..=high).contains(&byte) => {
            if follow == 1 {
                *characters += 1;
                Inside::Between
            } else {
                Inside::Character { follow: follow - 1, low: 0x80, high: 0xbf }
            }
        }
        _ => return Step::No,
    };
    *inside = next;
    Step::Taken
}

fn list(count: &mut u32, offset: &mut u8, (item, least, most): (NodeId, u32, u32), byte: u8) -> Step {
    if *count == u32::MAX {
        *count = 0;
        return if byte == b'[' { Step::Taken } else { Step::No };
    }
    if byte == b']' && *offset == 0 && *count >= least {
        return Step::Ended;
    }
    if *count >= most {
        return Step::No;
    }
    if *count > 0 && usize::from(*offset) < SEPARATOR.len() {
        let fits = SEPARATOR.get(usize::from(*offset)) == Some(&byte);
        *offset += 1;
        return if fits { Step::Taken } else { Step::No };
    }
    *count += 1;
    *offset = 0;
    Step::Within(item)
}

/// What may follow in an object before property `next`: the optional ones up to a required one, and the end if there is none.
fn candidates_from(properties: &[Property], next: usize) -> u64 {
    let mut candidates = 0;
    for (place, property) in properties.iter().enumerate().skip(next) {
        candidates |= 1 << place;
        if property.required {
            return candidates;
        }
    }
    candidates | END
}

/// The bytes that begin property `place`, or the end: separator and key.
fn candidate_byte(properties: &[Property], place: u32, first: bool, offset: usize) -> Option<u8> {
    let Some(property) = properties.get(place as usize) else {
        return (offset == 0).then_some(b'}');
    };
    let separator = if first { &[] } else { SEPARATOR };
    separator.get(offset).or_else(|| property.key.get(offset - separator.len())).copied()
}

fn places(candidates: u64) -> impl Iterator<Item = u32> {
    (0..u64::BITS).filter(move |place| candidates >> place & 1 == 1)
}

fn object(
    properties: &[Property],
    (next, offset, candidates, first): (&mut u8, &mut u16, &mut u64, &mut bool),
    byte: u8,
) -> Step {
    if *candidates == 0 {
        *candidates = candidates_from(properties, usize::from(*next));
        return if byte == b'{' { Step::Taken } else { Step::No };
    }
    let at = usize::from(*offset);
    let left = places(*candidates)
        .filter(|place| candidate_byte(properties, *place, *first, at) == Some(byte))
        .fold(0_u64, |left, place| left | 1 << place);
    match left {
        0 => Step::No,
        END => Step::Ended,
        _ => {
            let place = left.trailing_zeros();
            if left.count_ones() == 1 && candidate_byte(properties, place, *first, at + 1).is_none() {
                let following = place as usize + 1;
                (*next, *offset, *first) = (u8::try_from(following).unwrap_or(u8::MAX), 0, false);
                *candidates = candidates_from(properties, following);
                return properties.get(place as usize).map_or(Step::No, |property| Step::Begins(property.value));
            }
            (*candidates, *offset) = (left, *offset + 1);
            Step::Taken
        }
    }
}

/// The fewest bytes that complete one level, the levels above it not counted.
fn rest(grammar: &Grammar, frame: &Frame) -> usize {
    let shortest = |node: NodeId| grammar.shortest.get(node).copied().unwrap_or(0);
    match frame {
        Frame::Tail => 1,
        Frame::Head { low, high, offset } => {
            let heads = grammar.heads.iter().take(usize::from(*high)).skip(usize::from(*low));
            heads.map(|head| head.text.len() - usize::from(*offset) + shortest(head.arguments) + 1).min().unwrap_or(0)
        }
        Frame::Start { node } => shortest(*node as usize),
        Frame::Literals { node, low, high, offset } => match grammar.node(*node) {
            Some(Node::Literals(texts)) => texts
                .iter()
                .take(*high as usize)
                .skip(*low as usize)
                .map(|text| text.len() - *offset as usize)
                .min()
                .unwrap_or(0),
            _ => 0,
        },
        Frame::Text { node, characters, inside } => match grammar.node(*node) {
            Some(Node::Text { least, .. }) => {
                let (begun, bytes) = match inside {
                    Inside::Between => (0, 0),
                    Inside::Escape => (1, 1),
                    Inside::Character { follow, .. } => (1, usize::from(*follow)),
                };
                bytes + least.saturating_sub(characters + begun) as usize + 1
            }
            _ => 0,
        },
        Frame::Number { node, digits } => match grammar.node(*node) {
            Some(Node::Number(rule)) => rule.shortest(*digits).unwrap_or(0) as usize,
            _ => 0,
        },
        Frame::List { node, count, offset } => match grammar.node(*node) {
            Some(Node::List { item, least, .. }) => {
                // A separator that was begun owes an item.
                let owed = least.saturating_sub(*count).max(u32::from(*offset > 0)) as usize;
                let separators = 2 * (owed - usize::from(*count == 0 && owed > 0)) - usize::from(*offset);
                owed * shortest(*item) + separators + 1
            }
            _ => 0,
        },
        Frame::Object { node, offset, candidates, first, .. } => match grammar.node(*node) {
            Some(Node::Object(properties)) => places(*candidates)
                .map(|place| object_rest(grammar, properties, place, *first) - usize::from(*offset))
                .min()
                .unwrap_or(0),
            _ => 0,
        },
    }
}

/// The fewest bytes from before candidate `place` to the object's end.
fn object_rest(grammar: &Grammar, properties: &[Property], place: u32, first: bool) -> usize {
    let cost = |property: &Property| property.key.len() + grammar.shortest.get(property.value).copied().unwrap_or(0);
    let Some(chosen) = properties.get(place as usize) else {
        return 1;
    };
    let later = properties.iter().skip(place as usize + 1).filter(|property| property.required);
    cost(chosen)
        + if first { 0 } else { SEPARATOR.len() }
        + later.map(|property| SEPARATOR.len() + cost(property)).sum::<usize>()
        + 1
}
