//! A disk that tracks what is synced, and injects a fault at one call.

use latlab_store::disk::{Answer, DiskFaults, Operation};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A block is on the disk completely or not at all.
const BLOCK: usize = 512;

/// What happens at one call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskFault {
    /// It fails, and does nothing.
    Fails,
    /// A write fails after half of its bytes, because the disk is full.
    Full,
    /// The power is cut before it: nothing is done any more.
    Cut,
    /// Data read has a flipped bit.
    FalseRead,
    /// Data written has a flipped bit.
    FalseWrite,
    /// A write reports success, but leaves zeros.
    LostWrite,
    /// A sync reports success, but does nothing.
    FalseSync,
}

impl DiskFault {
    const ALL: [DiskFault; 7] = [
        DiskFault::Fails,
        DiskFault::Full,
        DiskFault::Cut,
        DiskFault::FalseRead,
        DiskFault::FalseWrite,
        DiskFault::LostWrite,
        DiskFault::FalseSync,
    ];

    /// Whether it can happen to such a call.
    fn fits(self, operation: &Operation<'_>) -> bool {
        match self {
            DiskFault::Fails | DiskFault::Cut => true,
            DiskFault::FalseRead => matches!(operation, Operation::Read(_)),
            DiskFault::FalseSync => {
                matches!(operation, Operation::Sync(_) | Operation::SyncFolder(_))
            }
            DiskFault::Full | DiskFault::FalseWrite | DiskFault::LostWrite => {
                matches!(operation, Operation::Write(..))
            }
        }
    }
}

/// The disk: real files below a folder, and a record of what of them is synced.
#[derive(Debug)]
pub struct SimulatedDisk {
    root: PathBuf,
    state: Mutex<DiskState>,
}

#[derive(Default, Debug)]
struct DiskState {
    fault: Option<(usize, DiskFault)>,
    calls: usize,
    /// Faults possible so far, each with the number of its call.
    possible: Vec<(usize, DiskFault)>,
    happened: bool,
    off: bool,
    false_read: bool,
    nodes: Vec<Node>,
}

#[derive(Default, Debug)]
struct Node {
    /// The content of a file: as it is, and as certainly on the disk.
    now: Vec<u8>,
    synced: Vec<u8>,
    unsynced: Vec<Change>,
    /// The names in a folder, likewise.
    names: BTreeMap<String, usize>,
    synced_names: BTreeMap<String, usize>,
    unsynced_names: Vec<NameChange>,
    is_folder: bool,
}

#[derive(Clone, Debug)]
enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

#[derive(Clone, Debug)]
enum NameChange {
    Add(String, usize),
    Remove(String),
    Rename(String, String),
}

impl SimulatedDisk {
    /// An empty folder as a disk without faults.
    pub fn new(root: &Path) -> Arc<SimulatedDisk> {
        let top = Node { is_folder: true, ..Node::default() };
        let state = DiskState { nodes: vec![top], ..DiskState::default() };
        Arc::new(SimulatedDisk { root: root.into(), state: Mutex::new(state) })
    }

    /// Injects a fault at the call with this number, from now on.
    pub fn fault_at(self: Arc<Self>, call: usize, fault: DiskFault) -> Arc<SimulatedDisk> {
        let mut state = self.state.lock().unwrap();
        (state.fault, state.calls) = (Some((call, fault)), 0);
        state.possible.clear();
        drop(state);
        self
    }

    /// Faults possible since the fault was set, each with the number of its call.
    pub fn possible_faults(&self) -> Vec<(usize, DiskFault)> {
        self.state.lock().unwrap().possible.clone()
    }

    pub fn happened(&self) -> bool {
        self.state.lock().unwrap().happened
    }

    pub fn is_off(&self) -> bool {
        self.state.lock().unwrap().off
    }

    /// Writes what may be on the disk if the power fails now: what is synced, and the blocks and
    /// names of the rest for which `survives` returns true.
    pub fn after_power_cut(&self, target: &Path, mut survives: impl FnMut() -> bool) {
        let state = self.state.lock().unwrap();
        state.write_out(0, target, &mut survives);
    }
}

impl DiskState {
    fn find(&self, path: &Path) -> usize {
        let names = path.iter().map(|name| name.to_str().unwrap());
        names.fold(0, |folder, name| self.nodes[folder].names[name])
    }

    fn add(&mut self, path: &Path, is_folder: bool) {
        let number = self.nodes.len();
        self.nodes.push(Node { is_folder, ..Node::default() });
        let (folder, name) = self.split(path);
        self.rename_in(folder, NameChange::Add(name, number));
    }

    fn has(&self, path: &Path) -> bool {
        let (folder, name) = self.split(path);
        self.nodes[folder].names.contains_key(&name)
    }

    fn split(&self, path: &Path) -> (usize, String) {
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        (self.find(path.parent().unwrap()), name)
    }

    fn rename_in(&mut self, folder: usize, change: NameChange) {
        let folder = &mut self.nodes[folder];
        change.apply(&mut folder.names);
        folder.unsynced_names.push(change);
    }

    fn change(&mut self, path: &Path, change: Change) {
        let number = self.find(path);
        let file = &mut self.nodes[number];
        change.apply(&mut file.now, |_| true);
        file.unsynced.push(change);
    }

    fn append(&mut self, path: &Path, bytes: &[u8]) {
        let end = self.nodes[self.find(path)].now.len();
        self.change(path, Change::Write(end, bytes.to_vec()));
    }

    fn sync(&mut self, path: &Path) {
        let number = self.find(path);
        let node = &mut self.nodes[number];
        match node.is_folder {
            true => {
                node.synced_names = node.names.clone();
                node.unsynced_names.clear();
            }
            false => {
                node.synced = node.now.clone();
                node.unsynced.clear();
            }
        }
    }

    /// Records a completed call.
    fn record(&mut self, root: &Path, operation: &Operation<'_>) {
        let inner = |path: &Path| path.strip_prefix(root).unwrap().to_path_buf();
        match *operation {
            Operation::CreateFolder(path) => self.add(&inner(path), true),
            Operation::Create(path) if !self.has(&inner(path)) => self.add(&inner(path), false),
            Operation::Remove(path) if self.has(&inner(path)) => {
                let (folder, name) = self.split(&inner(path));
                self.rename_in(folder, NameChange::Remove(name));
            }
            Operation::Write(path, bytes) => self.append(&inner(path), bytes),
            Operation::Truncate(path, length) => {
                self.change(&inner(path), Change::Truncate(length as usize));
            }
            Operation::Sync(path) | Operation::SyncFolder(path) => self.sync(&inner(path)),
            Operation::Rename(from, to) => {
                let ((folder, from), (same, to)) =
                    (self.split(&inner(from)), self.split(&inner(to)));
                assert_eq!(folder, same, "a rename within one folder");
                self.rename_in(folder, NameChange::Rename(from, to));
            }
            // Existing or missing files cause errors of the real file system.
            Operation::Create(_) | Operation::Remove(_) => {}
            Operation::Open(_) | Operation::Read(_) | Operation::Look(_) => {}
        }
    }

    fn write_out(&self, number: usize, target: &Path, survives: &mut dyn FnMut() -> bool) {
        let node = &self.nodes[number];
        if !node.is_folder {
            let mut bytes = node.synced.clone();
            node.unsynced.iter().for_each(|change| change.apply(&mut bytes, |_| survives()));
            fs::write(target, bytes).unwrap();
            return;
        }
        let mut names = node.synced_names.clone();
        for change in &node.unsynced_names {
            if survives() {
                change.apply(&mut names);
            }
        }
        fs::create_dir_all(target).unwrap();
        // After a half-completed rename a file has two names; it is written under the newer one.
        let mut written = BTreeSet::new();
        for (name, child) in names {
            if written.insert(child) {
                self.write_out(child, &target.join(name), survives);
            }
        }
    }
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>, mut survives: impl FnMut(usize) -> bool) {
        match self {
            Change::Truncate(length) => {
                if survives(0) {
                    bytes.truncate(*length);
                }
            }
            Change::Write(start, new) => {
                let mut at = *start;
                while at < start + new.len() {
                    let end = (at / BLOCK * BLOCK + BLOCK).min(start + new.len());
                    if survives(at) {
                        // The file may get its length before its content.
                        bytes.resize(bytes.len().max(end), 0);
                        bytes[at..end].copy_from_slice(&new[at - start..end - start]);
                    }
                    at = end;
                }
            }
        }
    }
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<String, usize>) {
        match self {
            NameChange::Add(name, number) => drop(names.insert(name.clone(), *number)),
            NameChange::Remove(name) => drop(names.remove(name)),
            NameChange::Rename(from, to) => {
                if let Some(number) = names.remove(from) {
                    names.insert(to.clone(), number);
                }
            }
        }
    }
}

impl DiskFaults for SimulatedDisk {
    fn before(&self, operation: Operation<'_>) -> io::Result<Answer> {
        let mut state = self.state.lock().unwrap();
        if state.off {
            return Err(ErrorKind::NotConnected.into());
        }
        let call = state.calls;
        state.calls += 1;
        let possible = DiskFault::ALL.into_iter().filter(|one| one.fits(&operation));
        state.possible.extend(possible.map(|one| (call, one)));
        let fault = state.fault.filter(|(at, fault)| *at == call && fault.fits(&operation));
        state.happened |= fault.is_some();
        let other_bit = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 4;
            bytes
        };
        let (written, answer) = match (fault.map(|(_, fault)| fault), operation) {
            (Some(DiskFault::Fails), _) => return Err(io::Error::from_raw_os_error(5)),
            (Some(DiskFault::Cut), _) => {
                state.off = true;
                return Err(ErrorKind::NotConnected.into());
            }
            (Some(DiskFault::Full), Operation::Write(path, bytes)) => {
                let half = bytes[..bytes.len() / 2].to_vec();
                (Some((path, half)), Err(ErrorKind::StorageFull.into()))
            }
            (Some(DiskFault::FalseWrite), Operation::Write(path, bytes)) => {
                (Some((path, other_bit(bytes))), Ok(()))
            }
            (Some(DiskFault::LostWrite), Operation::Write(path, bytes)) => {
                (Some((path, vec![0; bytes.len()])), Ok(()))
            }
            (Some(DiskFault::FalseSync), _) => return Ok(Answer::Skip),
            (Some(DiskFault::FalseRead), _) => {
                state.false_read = true;
                (None, Ok(()))
            }
            _ => (None, Ok(())),
        };
        match written {
            Some((path, bytes)) => {
                state.record(&self.root, &Operation::Write(path, &bytes));
                Ok(Answer::Write(bytes, answer))
            }
            None => {
                state.record(&self.root, &operation);
                // The files below the root are in memory, and are never cut.
                let sync = matches!(operation, Operation::Sync(_) | Operation::SyncFolder(_));
                Ok(if sync { Answer::Skip } else { Answer::Do })
            }
        }
    }

    fn after_read(&self, _: &Path, bytes: &mut [u8]) {
        if std::mem::take(&mut self.state.lock().unwrap().false_read) && !bytes.is_empty() {
            bytes[bytes.len() / 2] ^= 4;
        }
    }
}
