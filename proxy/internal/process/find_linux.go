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

// strangerShare is how many times as long as a search took for who listens beside agents there is none: on a machine
// where servers come and go all the time, each new one would make a look long.
const strangerShare = 19

// hiddenFor is how long a listening socket that nobody was seen to hold is not looked for again.
const hiddenFor = 5 * time.Second

// A Finder looks at processes and their sockets. It remembers who held which listening socket, so that not all
// processes have to be looked at each time. The zero Finder is ready. It must not be used by two goroutines at once.
type Finder struct {
	root string // where /proc is; empty stands for that
	held map[uint64]*holding
	now  func() time.Time // nil is time.Now
	rest time.Time        // no search before for who listens beside agents
}

// A holding is a listening socket, by its inode, and who holds it.
type holding struct {
	descriptors map[int]string // of each process one descriptor of the socket; none if it is hidden
	hidden      time.Time      // when nobody was found
}

// Find looks who listens at the addresses of agents, each of which may have several, and which of those processes and
// of their parents and children have made connections. It looks at nothing more when the context ends, and returns its
// error; other errors say that the system lists no sockets.
func (f *Finder) Find(ctx context.Context, agents [][]netip.AddrPort, connections []Pair) (Survey, error) {
	var s Survey
	t, err := f.sockets(connections)
	if err != nil {
		return s, err
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
	l := look{f: f, survey: &s, inodes: t.made, listening: listening, ports: all}
	s.owners, s.processes = make([][]int, len(connections)), make(map[int]details)
	for _, pid := range holders {
		l.at(pid)
	}
	strangers, err := l.strangers(ctx, others, holders)
	if err != nil {
		return Survey{}, err
	}
	if len(holders) == 0 || l.complete() {
		return s, ctx.Err()
	}
	for _, pid := range holders {
		if ctx.Err() != nil {
			break
		}
		s.processes[pid] = f.details(pid)
		for _, relative := range append(f.children(pid), s.processes[pid].parent) {
			if _, known := s.processes[relative]; !known && relative > 1 && !slices.Contains(holders, relative) {
				s.processes[relative] = f.details(relative)
				if !slices.Contains(strangers, relative) {
					l.at(relative)
				}
			}
		}
	}
	return s, ctx.Err()
}

// A look goes through the descriptors of processes.
type look struct {
	f         *Finder
	survey    *Survey
	inodes    []uint64 // of the connections; 0 if it has none
	listening [][]uint64
	ports     map[uint64]uint16 // of all that listen
}

// strangers looks at processes that listen and are not those of agents, as long as it is not known of a connection who
// has made it, and returns those. Before the first connections it only finds out who they are.
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

// at notes which of the sockets a process holds. A worker that was given a listening socket is one more holder.
func (l *look) at(pid int) {
	l.f.descriptors(pid, func(_ string, inode uint64) {
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
	})
}

// complete reports whether each connection that there is has an owner.
func (l *look) complete() bool {
	for i, inode := range l.inodes {
		if inode != 0 && len(l.survey.owners[i]) == 0 {
			return false
		}
	}
	return true
}

// forget forgets listening sockets that are not there any more.
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

// findHolders sees to it that it is known who holds listening sockets.
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
			continue // what we hold ourselves is not a process of an agent
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

// descriptors calls found with each socket that a process holds. It may not be looked at if it is another user's.
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

// details returns what is known of a process.
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

// names returns the names in a directory, none if it may not be read.
func names(dir string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	all, _ := d.Readdirnames(-1) // what was read until the process ended
	return all
}

// sockets looks up the sockets that are asked for: with the kernel, or in the tables of TCP where it does not answer.
func (f *Finder) sockets(connections []Pair) (table, error) {
	if f.root == "" {
		if t := newTable(connections); t.ask() == nil {
			return t, nil
		}
	}
	t := newTable(connections)
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
