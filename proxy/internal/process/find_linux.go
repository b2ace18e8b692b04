package process

import (
	"bytes"
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// strangerShare is the pause after a search for other listening processes, as a multiple of the search's duration: on a
// machine where servers start and stop all the time, each new server would make a look long.
const strangerShare = 19

// hiddenFor is how long a listening socket without a visible holder is not looked up again.
const hiddenFor = 5 * time.Second

// A Finder examines processes and their sockets. It remembers which process held which listening socket, so that it
// need not examine all processes each time. The zero Finder is ready. It must not be used by two goroutines at once.
type Finder struct {
	root string // the path of /proc; empty means /proc
	held map[uint64]*holding
	now  func() time.Time // nil is time.Now
	rest time.Time        // no search for other listening processes before this time
	last time.Time        // the same for a search in all processes
	made []int            // processes that were seen to make connections, the latest first
}

// maxMade is how many processes that have made connections are examined before all others.
const maxMade = 16

// A holding is a listening socket, by its inode, and the processes that hold it.
type holding struct {
	descriptors map[int]string // one descriptor of the socket per process; 0 if hidden
	hidden      time.Time      // when no holder was found
}

// Find finds the processes that listen at the addresses of agents, each of which may have several, and which of those
// processes and of their parents and children have made connections. It stops when the context ends, and returns the
// context's error; other errors mean that the system lists no sockets.
func (f *Finder) Find(ctx context.Context, agents [][]netip.AddrPort, connections []Pair) (Survey, error) {
	s := Survey{owners: make([][]int, len(connections)), lasted: make([]bool, len(connections)), processes: make(map[int]details)}
	l := look{f: f, survey: &s, sockets: make(map[int][]uint64)}
	t, err := f.sockets(connections, func() {
		for _, pid := range f.made { // before anything else: a connection can be over soon
			l.know(pid)
			l.socketsOf(pid)
		}
	})
	if err != nil {
		return Survey{}, err
	}
	s.Listening, s.Holders = make([]bool, len(agents)), make([][]int, len(agents))
	listening := make([][]uint64, len(agents))
	for i, agent := range agents {
		listening[i] = listenersOf(agent, t.listeners)
		s.Listening[i] = listening[i] != nil
	}
	all := make(map[uint64]uint16, len(t.listeners))
	var others []uint64
	for _, l := range t.listeners {
		if all[l.id] = l.at.Port(); !slices.ContainsFunc(listening, func(of []uint64) bool { return slices.Contains(of, l.id) }) {
			others = append(others, l.id)
		}
	}
	f.forget(all)
	if err := f.findHolders(ctx, slices.Concat(listening...)); err != nil {
		return Survey{}, err
	}
	var holders []int
	for i, inodes := range listening {
		for _, inode := range inodes {
			for pid := range f.held[inode].descriptors {
				s.Holders[i] = add(s.Holders[i], pid)
				holders = add(holders, pid)
			}
		}
	}
	l.inodes, l.listening, l.ports = t.made, listening, all
	for _, pid := range slices.Concat(f.made, holders) {
		l.at(pid)
	}
	strangers, err := l.strangers(ctx, others, holders)
	if err != nil {
		return Survey{}, err
	}
	if len(holders) > 0 && !l.complete() {
		for _, pid := range holders {
			if ctx.Err() != nil {
				break
			}
			for _, relative := range append(f.children(pid), f.parent(pid)) {
				if relative > 1 && !slices.Contains(holders, relative) && !slices.Contains(strangers, relative) {
					l.know(relative)
					l.at(relative)
				}
			}
		}
		l.outlasted(connections)
	}
	for i, agent := range agents {
		if len(agent) > 0 && !s.Listening[i] {
			l.newcomers(ctx)
			break
		}
	}
	for _, pid := range slices.Concat(holders, l.makers()) {
		l.know(pid)
	}
	return s, ctx.Err()
}

// A look goes through the descriptors of processes.
type look struct {
	f         *Finder
	survey    *Survey
	sockets   map[int][]uint64 // of each examined process
	inodes    []uint64         // of the connections; 0 without connections
	listening [][]uint64
	ports     map[uint64]uint16 // of all that listen
}

// strangers examines listening processes that are not agents, while a connection's process is unknown, and returns
// them. Before the first connections, it only lists them.
func (l *look) strangers(ctx context.Context, listening []uint64, agents []int) (seen []int, err error) {
	if len(l.inodes) > 0 && l.complete() {
		return nil, nil
	}
	if now := l.f.clock(); !now.Before(l.f.rest) {
		if err := l.f.findHolders(ctx, listening); err != nil {
			return nil, err
		}
		ended := l.f.clock()
		l.f.rest = ended.Add(strangerShare * ended.Sub(now))
	}
	var all []int
	for _, inode := range listening {
		if h := l.f.held[inode]; h != nil {
			for pid := range h.descriptors {
				if !slices.Contains(agents, pid) {
					all = add(all, pid)
				}
			}
		}
	}
	for _, pid := range all {
		if l.complete() || ctx.Err() != nil {
			break
		}
		l.at(pid)
		seen = add(seen, pid)
	}
	return seen, nil
}

// newcomersRest is the part of a look that is reserved for the rest of its work.
const newcomersRest = time.Second

// newcomers examines all other processes, the newest first, while a connection's process is unknown: it may be an agent
// that does not listen yet.
func (l *look) newcomers(ctx context.Context) {
	if len(l.inodes) == 0 || l.complete() || l.f.clock().Before(l.f.last) {
		return
	}
	begun := l.f.clock()
	until, bounded := ctx.Deadline()
	all := l.f.processes()
	slices.Sort(all)
	for _, pid := range slices.Backward(all) {
		if l.complete() || ctx.Err() != nil || bounded && time.Until(until) < newcomersRest {
			break
		}
		if pid != os.Getpid() {
			l.at(pid)
		}
	}
	ended := l.f.clock()
	l.f.last = ended.Add(strangerShare * ended.Sub(begun))
}

// outlasted notes which connections without a visible holder still exist.
func (l *look) outlasted(connections []Pair) {
	var rest []Pair
	var numbers []int
	for i, c := range connections {
		if l.inodes[i] != 0 && len(l.survey.owners[i]) == 0 {
			rest, numbers = append(rest, c), append(numbers, i)
		}
	}
	for i, inode := range l.f.inodes(rest) {
		l.survey.lasted[numbers[i]] = inode == l.inodes[numbers[i]]
	}
}

// makers returns the processes that have made the connections. The next look begins with them.
func (l *look) makers() []int {
	var made []int
	for _, owners := range l.survey.owners {
		for _, pid := range owners {
			if !slices.Contains(made, pid) {
				made = append(made, pid)
			}
		}
	}
	next := slices.Clone(made)
	for _, pid := range l.f.made {
		if !slices.Contains(made, pid) && len(l.sockets[pid]) > 0 {
			next = append(next, pid)
		}
	}
	l.f.made = next[:min(len(next), maxMade)]
	return made
}

// know notes the details of a process, before its sockets are examined, since it may end soon.
func (l *look) know(pid int) {
	if _, known := l.survey.processes[pid]; !known {
		l.survey.processes[pid] = l.f.details(pid)
	}
}

// socketsOf returns the sockets of a process, as they were when this look first examined it.
func (l *look) socketsOf(pid int) []uint64 {
	inodes, known := l.sockets[pid]
	if !known {
		l.f.descriptors(pid, func(_ string, inode uint64) { inodes = append(inodes, inode) })
		l.sockets[pid] = inodes
	}
	return inodes
}

// at records which of the sockets a process holds. A worker that was given a listening socket is an additional holder.
func (l *look) at(pid int) {
	for _, inode := range l.socketsOf(pid) {
		if i := slices.Index(l.inodes, inode); i >= 0 {
			l.survey.owners[i] = add(l.survey.owners[i], pid)
		}
		if port, listens := l.ports[inode]; listens {
			l.survey.listens(pid, port)
		}
		for i, inodes := range l.listening {
			if slices.Contains(inodes, inode) {
				l.survey.Holders[i] = add(l.survey.Holders[i], pid)
			}
		}
	}
}

// complete reports whether each existing connection has an owner.
func (l *look) complete() bool {
	for i, inode := range l.inodes {
		if inode != 0 && len(l.survey.owners[i]) == 0 {
			return false
		}
	}
	return true
}

// forget forgets listening sockets that no longer exist.
func (f *Finder) forget(there map[uint64]uint16) {
	for inode := range f.held {
		if _, is := there[inode]; !is {
			delete(f.held, inode)
		}
	}
}

func (f *Finder) clock() time.Time {
	if f.now != nil {
		return f.now()
	}
	return time.Now()
}

// findHolders makes sure that the holders of listening sockets are known.
func (f *Finder) findHolders(ctx context.Context, inodes []uint64) error {
	if f.held == nil {
		f.held = make(map[uint64]*holding)
	}
	missing := make(map[uint64]bool)
	for _, inode := range inodes {
		h := f.held[inode]
		if h == nil {
			h = &holding{}
			f.held[inode] = h
		}
		for pid, descriptor := range h.descriptors {
			if at, _ := f.socket(pid, descriptor); at != inode { // it has closed it, or ended
				delete(h.descriptors, pid)
			}
		}
		missing[inode] = len(h.descriptors) == 0 && f.clock().Sub(h.hidden) > hiddenFor
		if !missing[inode] {
			delete(missing, inode)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	for _, pid := range f.processes() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if pid == os.Getpid() {
			continue // this process is not an agent's
		}
		f.descriptors(pid, func(descriptor string, inode uint64) {
			if missing[inode] {
				h := f.held[inode]
				if h.descriptors == nil {
					h.descriptors = make(map[int]string)
				}
				h.descriptors[pid] = descriptor
			}
		})
	}
	for inode := range missing {
		f.held[inode].hidden = f.clock()
	}
	return nil
}

// The files of /proc: see proc(5).

func (f *Finder) path(parts ...string) string {
	root := f.root
	if root == "" {
		root = "/proc"
	}
	return filepath.Join(append([]string{root}, parts...)...)
}

// processes returns all processes.
func (f *Finder) processes() []int {
	var all []int
	for _, name := range names(f.path()) {
		if pid, err := strconv.Atoi(name); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// descriptors calls found with each socket that a process holds. Another user's process may not be examined.
func (f *Finder) descriptors(pid int, found func(descriptor string, inode uint64)) {
	for _, name := range names(f.path(strconv.Itoa(pid), "fd")) {
		if inode, ok := f.socket(pid, name); ok {
			found(name, inode)
		}
	}
}

// socket returns the inode of the socket that a descriptor of a process is.
func (f *Finder) socket(pid int, descriptor string) (inode uint64, ok bool) {
	target, err := os.Readlink(f.path(strconv.Itoa(pid), "fd", descriptor))
	if err != nil {
		return 0, false
	}
	number, is := strings.CutPrefix(target, "socket:[")
	if !is {
		return 0, false
	}
	inode, err = strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 64)
	return inode, err == nil && inode != 0
}

// children returns the children of a process.
func (f *Finder) children(pid int) []int {
	var all []int
	tasks, listed := f.path(strconv.Itoa(pid), "task"), false
	for _, task := range names(tasks) {
		text, err := os.ReadFile(filepath.Join(tasks, task, "children"))
		listed = listed || err == nil
		for _, field := range bytes.Fields(text) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				all = append(all, child)
			}
		}
	}
	if listed {
		return all
	}
	for _, other := range f.processes() { // some kernels are built without these lists
		if f.parent(other) == pid {
			all = append(all, other)
		}
	}
	return all
}

// details returns known facts about a process.
func (f *Finder) details(pid int) details {
	var d details
	d.program, _ = os.Readlink(f.path(strconv.Itoa(pid), "exe"))
	d.parent = f.parent(pid)
	return d
}

// parent returns the parent of a process, 0 if it has ended.
func (f *Finder) parent(pid int) int {
	text, _ := os.ReadFile(f.path(strconv.Itoa(pid), "stat")) // empty if it has ended
	// The name of the command is in parentheses, and may hold anything.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}

// inodes returns the inodes of connections' sockets, 0 for closed ones.
func (f *Finder) inodes(connections []Pair) []uint64 {
	if f.root == "" {
		if t := newTable(connections); diagnose(t.connections) == nil {
			return t.made
		}
	}
	t, _ := f.sockets(connections, func() {}) // if that fails, none was found
	return t.made
}

// names returns the names in a directory, none if it may not be read.
func names(dir string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	all, _ := d.Readdirnames(-1) // the entries read before the process ended
	return all
}

// sockets looks up the requested sockets, through netlink or, if that fails, in the TCP tables of /proc, and calls made
// when it knows the sockets of the connections.
func (f *Finder) sockets(connections []Pair, made func()) (table, error) {
	if f.root == "" {
		if t := newTable(connections); t.ask(made) == nil {
			return t, nil
		}
	}
	t := newTable(connections)
	defer made()
	file, err := os.Open(f.path("net", "tcp"))
	if err != nil {
		return t, err
	}
	defer file.Close()
	if err := t.read(file); err != nil {
		return t, err
	}
	six, err := os.Open(f.path("net", "tcp6"))
	if err != nil { // a system without IPv6
		return t, nil
	}
	defer six.Close()
	return t, t.read(six)
}

// parentOf returns the parent of a process, or 0.
func parentOf(pid int) int { return new(Finder).parent(pid) }
