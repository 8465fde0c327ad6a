//! All schedules, one after the other: a depth-first search without memory of states, with sleep sets.

use super::action::Action;
use super::foot::Foot;
use super::scheduler::Scheduler;
use super::world::World;

/// Where the search is: the choices of the schedule that is run, and what is left to try at each.
pub(crate) struct Search {
    nodes: Vec<Node>,
    reduction: bool,
}

/// A point of choice.
struct Node {
    choices: Vec<Choice>,
    chosen: usize,
}

struct Choice {
    action: Action,
    foot: Foot,
    /// It need not be tried here (any more): it was, or what it leads to is tried elsewhere.
    asleep: bool,
    /// It cannot be tried here: others that have waited long go first.
    behind: bool,
}

impl Search {
    pub(crate) fn new(reduction: bool) -> Self {
        Self { nodes: Vec::new(), reduction }
    }

    /// The next schedule.
    pub(crate) fn run(&mut self) -> Walk<'_> {
        Walk { search: self, depth: 0, enabled: Vec::new(), step: 0, turns: Vec::new() }
    }

    /// Goes to the next choice that is left; false if there is none: all schedules were run.
    pub(crate) fn advance(&mut self) -> bool {
        while let Some(node) = self.nodes.last_mut() {
            node.choices[node.chosen].asleep = true;
            if let Some(next) = node.choices.iter().position(|choice| !choice.asleep && !choice.behind) {
                node.chosen = next;
                return true;
            }
            self.nodes.pop();
        }
        false
    }
}

impl Node {
    /// What sleeps after the choice: what was tried here, or slept here, and may change places with what is chosen.
    fn sleeps_on(&self) -> Vec<Action> {
        let chosen = &self.choices[self.chosen].foot;
        let sleeps =
            self.choices.iter().filter(|choice| choice.asleep && choice.foot.is_independent_of(chosen));
        sleeps.map(|choice| choice.action).collect()
    }
}

/// One schedule of the search.
pub(crate) struct Walk<'a> {
    search: &'a mut Search,
    depth: usize,
    enabled: Vec<Enabled>,
    step: u64,
    /// Of each PE, when it last gave others a turn, and the time before.
    turns: Vec<(u64, u64)>,
}

struct Enabled {
    action: Action,
    since: u64,
    gave_turn: bool,
}

impl Walk<'_> {
    /// Whether all that can be chosen next would only repeat what was run before.
    fn node(&mut self, world: &World) -> Option<usize> {
        if self.depth == self.search.nodes.len() {
            let sleeping = self.search.nodes.last().map(Node::sleeps_on).unwrap_or_default();
            let choices: Vec<_> =
                (0..self.enabled.len()).map(|at| self.choice(at, &sleeping, world)).collect();
            let chosen = choices.iter().position(|choice| !choice.asleep && !choice.behind)?;
            self.search.nodes.push(Node { choices, chosen });
        }
        let node = self.search.nodes.get(self.depth)?;
        Some(node.chosen)
    }

    fn choice(&self, at: usize, sleeping: &[Action], world: &World) -> Choice {
        let Enabled { action, gave_turn, .. } = self.enabled[at];
        let foot = if gave_turn { Foot::Turn } else { world.foot(action) };
        let asleep = self.search.reduction && sleeping.contains(&action);
        Choice { action, foot, asleep, behind: gave_turn && self.is_behind(action) }
    }

    /// A PE that gives turns again and again comes after all that could happen since before its last but one: so no schedule
    /// goes on for ever that only looks.
    fn is_behind(&self, action: Action) -> bool {
        let Action::Poll(pe) = action else { return false };
        let before = self.turns.get(pe as usize).map_or(0, |(_, before)| *before);
        self.enabled.iter().any(|other| other.action != action && other.since < before)
    }
}

impl Scheduler for Walk<'_> {
    fn enabled(&mut self, action: Action, gave_turn: bool) {
        if gave_turn && let Action::Poll(pe) = action {
            let pe = pe as usize;
            if pe >= self.turns.len() {
                self.turns.resize(pe + 1, (0, 0));
            }
            self.turns[pe] = (self.step, self.turns[pe].0);
        }
        self.enabled.push(Enabled { action, since: self.step, gave_turn });
    }

    fn next(&mut self, world: &World) -> Option<Action> {
        let chosen = self.node(world)?;
        self.depth += 1;
        self.step += 1;
        // In order, so that the same choices come in the same order in every schedule with the same start.
        Some(self.enabled.remove(chosen).action)
    }
}
