package proxy

import (
	"context"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/proxy/internal/process"
	"a2atap/proxy/recording"
)

// Limits of the search for the processes that clients are.
const (
	callerWait    = 100 * time.Millisecond // from when a connection is accepted, that its recording waits for a name
	callerTimeout = 2 * time.Second        // of one look
	callerShare   = 10                     // looks take at most 1/callerShare of the time,
	callerSaved   = time.Second            // and at most this much of it at once
	maxCallers    = 4096                   // connections that wait for a look
	maxUnnamed    = 256                    // connections that may get a name later
	callerRetry   = time.Second            // without searches, after a look that could recognize no agent
)

// callers finds out which clients on this machine are agents themselves: those whose process listens at the address of
// exactly one agent of a tap. For the other clients, it finds the ports that they listen on, since another recorder on
// this machine may know the agent there. It looks up all waiting connections together, on its own goroutine, which ends
// when no connection waits.
//
// callers does not search for an agent that calls itself through its own tap. Tests with both ends in one process do
// that, and the agent's name would say less than the User-Agent.
type callers struct {
	proxy    *Proxy
	patience time.Duration // that a recording has with the search for a client
	find     func(context.Context, [][]netip.AddrPort, []process.Pair) (finding, error)

	mu      sync.Mutex
	waiting []*search
	unnamed []*search // searches without an agent: the client may become one, if its connection lasts
	running bool
	warm    bool      // look for the agents' processes before the first search needs them
	seen    []string  // agents whose processes were seen at the last look; nil before the first one
	idle    time.Time // until when no look is worth it
	pace    pace
}

// A search is for the process of one caller.
type search struct {
	recording.Caller
	pair  process.Pair
	above []int  // instead of pair: the processes above a tool, the nearest first
	tap   string // the agent that it calls, as families of taps are named; empty for any
	conn  *recording.Conn
	again bool // the client was looked for before, and Process is the one that held the connection then
}

// A finding is the result of a look.
type finding struct {
	recognizable bool    // the process of an agent, or of another listener, is known
	agents       [][]int // of each the processes that were seen
	callers      []caller
}

// A caller is the process that made a connection.
type caller struct {
	agent    int
	relation process.Relation
	seen     bool     // its process was found, or belongs to no agent whose process was found
	owners   []int    // the processes that hold the connection
	ports    []uint16 // on which its process listens
}

// How a client's process was recognized as an agent's.
var byProcess = map[process.Relation]string{
	process.Same:   "socket of the agent's process",
	process.Child:  "socket of a child of the agent's process",
	process.Parent: "socket of the parent of the agent's process",
}

// byStart means that a client was recognized as the process that started a tool.
const byStart = "its process started the tool"

func newCallers(p *Proxy) *callers {
	var finder process.Finder
	return &callers{proxy: p, patience: callerWait, find: func(ctx context.Context, agents [][]netip.AddrPort,
		connections []process.Pair,
	) (finding, error) {
		var f finding
		survey, err := finder.Find(ctx, agents, connections)
		f.recognizable = survey.Recognisable()
		f.agents = survey.Holders
		f.callers = slices.Grow(f.callers, len(connections))[:len(connections)]
		for i := range f.callers {
			f.callers[i].agent, f.callers[i].relation = survey.Caller(i)
			f.callers[i].seen, f.callers[i].ports, f.callers[i].owners = survey.Seen(i), survey.Ports(i), survey.Owners(i)
		}
		return f, err
	}}
}

// look starts the search for the client of a connection, if it is on this machine. It does not wait. Serve must be
// running.
func (c *callers) look(client net.Conn, tap string, conn *recording.Conn) {
	from, _ := client.RemoteAddr().(*net.TCPAddr)
	to, _ := client.LocalAddr().(*net.TCPAddr)
	if c.proxy.opts.NoCallers || from == nil || to == nil || !from.IP.IsLoopback() && !from.IP.Equal(to.IP) {
		return
	}
	c.begin(&search{pair: process.Pair{Local: from.AddrPort(), Remote: to.AddrPort()}, tap: tap, conn: conn})
}

// lookAbove begins the search for the client of a tool: the nearest process above the tool that is an agent's.
func (c *callers) lookAbove(above []int, tool string, conn *recording.Conn) {
	if at := slices.Index(above, os.Getpid()); at >= 0 { // the process that started this recorder did not start the tool
		above = above[:at]
	}
	if c.proxy.opts.NoCallers || len(above) == 0 {
		return
	}
	c.begin(&search{above: above, tap: tool, conn: conn})
}

// arm sets the limits of a search that begins now.
func (c *callers) arm(one *search, now time.Time) {
	one.Caller = recording.Caller{
		Until: now.Add(c.patience), Done: make(chan struct{}), Home: capture.Home{Machine: process.Machine()},
	}
}

// begin begins a search. It does not wait.
func (c *callers) begin(one *search) {
	now := time.Now()
	c.arm(one, now)
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.idle) {
		return
	}
	one.InDoubt = c.mayBeAgent(one.tap)
	one.conn.Identify(&one.Caller)
	if len(c.waiting) >= maxCallers {
		one.Unseen = one.InDoubt
		close(one.Done)
		return
	}
	c.waiting = append(c.waiting, one)
	c.start()
}

// reached records the address at which an agent was reached. If the listener there is unknown, it allows another look.
func (c *callers) reached(t *Tap, remote net.Addr) {
	at, ok := remote.(*net.TCPAddr)
	if !ok || strconv.Itoa(at.Port) != t.agent.Port {
		return
	}
	address := at.AddrPort()
	if was := t.reached.Swap(&address); was != nil && *was == address {
		return
	}
	c.prepare()
}

// prepare looks for the processes that listen for the agents, so that they are known when the agents call: a connection
// can be over before a look is. It also looks again for clients that were not agents when they connected: a program may
// fetch other agents' cards before it listens. Serve must be running.
func (c *callers) prepare() {
	if c.proxy.opts.NoCallers {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle, c.warm = time.Time{}, true
	now := time.Now()
	for _, before := range c.unnamed {
		one := &search{pair: before.pair, tap: before.tap, conn: before.conn, again: true}
		c.arm(one, now)
		one.Process = before.Process
		one.conn.Identify(&one.Caller)
		c.waiting = append(c.waiting, one)
	}
	c.unnamed = nil
	c.start()
}

// start starts the looking goroutine unless it runs. The caller holds c.mu.
func (c *callers) start() {
	if !c.running {
		c.running = true
		c.proxy.served.Go(c.run)
	}
}

// run looks until no connection waits.
func (c *callers) run() {
	ctx := c.proxy.ctx
	for {
		c.mu.Lock()
		if len(c.waiting) == 0 && !c.warm {
			c.running = false
			c.mu.Unlock()
			return
		}
		wait := c.pace.wait(time.Now())
		c.mu.Unlock()
		if wait > 0 {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
			}
		}
		c.mu.Lock()
		batch := c.waiting
		c.waiting, c.warm = nil, false
		c.mu.Unlock()
		begun := time.Now()
		if recognizable := c.lookAt(ctx, batch); !recognizable {
			c.mu.Lock()
			c.idle = time.Now().Add(callerRetry)
			c.mu.Unlock()
		}
		ended := time.Now()
		if len(batch) == 0 { // work done in advance must not delay the next search
			ended = begun
		}
		c.mu.Lock()
		c.pace.took(begun, ended)
		c.mu.Unlock()
	}
}

// lookAt looks once, for a whole batch. It reports whether any agent could be recognized as a caller.
func (c *callers) lookAt(ctx context.Context, batch []*search) bool {
	defer func() {
		for _, one := range batch {
			close(one.Done)
			if one.Name != "" || len(one.Home.Ports) > 0 || one.InDoubt && !one.Unseen ||
				one.Process != 0 && time.Now().After(one.Until) {
				one.conn.Recognized(&one.Caller)
			}
		}
	}()
	names, addresses := c.agents()
	pairs := make([]process.Pair, len(batch))
	for i, one := range batch {
		pairs[i] = one.pair
	}
	ctx, cancel := context.WithTimeout(ctx, callerTimeout)
	defer cancel()
	found, err := c.find(ctx, addresses, pairs)
	if err != nil {
		for _, one := range batch { // at the end of a recording in which no look succeeded, no client is an agent
			one.Unseen = one.InDoubt && (c.seen != nil || c.proxy.ctx.Err() == nil)
		}
		return ctx.Err() != nil
	}
	seen := make([]string, 0, len(names))
	for i, name := range names {
		if len(found.agents[i]) > 0 {
			seen = append(seen, name)
		}
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.seen = seen
		if len(seen) < len(names) {
			c.keepUnnamed(batch, found.callers)
		}
	}()
	for i, one := range batch {
		if one.above != nil {
			one.Name, one.How = agentAbove(one.above, names, found.agents)
			continue
		}
		one.Home.Ports = found.callers[i].ports
		one.Unseen = !one.again && !found.callers[i].seen && oneBut(one.tap, seen)
		if by := found.callers[i]; by.relation != process.None && names[by.agent] != one.tap {
			one.Name, one.How = names[by.agent], byProcess[by.relation]
		} else if name, _ := agentAbove([]int{one.Process}, names, found.agents); one.Process != 0 && name != one.tap && name != "" {
			one.Name, one.How = name, byProcess[process.Same]
		}
		if owners := found.callers[i].owners; len(owners) == 1 {
			one.Process = owners[0]
		}
	}
	return found.recognizable
}

// keepUnnamed keeps the newest searches without an agent. After a second search, the process must be known, or the
// connection must have lasted. The caller holds c.mu.
func (c *callers) keepUnnamed(batch []*search, found []caller) {
	for i, one := range batch {
		if one.above == nil && one.Name == "" && (!one.again || found[i].seen || one.Process != 0) {
			c.unnamed = append(c.unnamed, one)
		}
	}
	c.unnamed = slices.Clone(c.unnamed[max(len(c.unnamed)-maxUnnamed, 0):])
}

// agentAbove returns the agent at the nearest process above a tool that belongs to exactly one agent, and how it was
// recognized. The first process of a system adopts all orphans, and is an ancestor of everything.
func agentAbove(above []int, names []string, holders [][]int) (name, how string) {
	for _, pid := range above {
		for i, of := range holders {
			if pid == 1 || !slices.Contains(of, pid) {
				continue
			}
			if name != "" {
				return "", ""
			}
			name, how = names[i], byStart
		}
		if name != "" {
			break
		}
	}
	return name, how
}

// mayBeAgent reports whether an agent with a known process may be the client of a tap. Before the first look any agent
// may. The caller holds c.mu.
func (c *callers) mayBeAgent(tap string) bool {
	if c.seen != nil {
		return oneBut(tap, c.seen)
	}
	return slices.ContainsFunc(c.proxy.Taps(), func(t *Tap) bool { return t.family != tap })
}

func oneBut(name string, names []string) bool {
	return slices.ContainsFunc(names, func(other string) bool { return other != name })
}

// agents returns the agents behind the taps, and where on this machine they may listen.
func (c *callers) agents() (names []string, addresses [][]netip.AddrPort) {
	local := sync.OnceValue(localAddresses)
	at := make(map[string]int)
	for _, t := range c.proxy.Taps() {
		i, known := at[t.family]
		if !known {
			i = len(names)
			at[t.family] = i
			names, addresses = append(names, t.family), append(addresses, nil)
		}
		for _, address := range t.addresses() {
			if ip := address.Addr().Unmap().WithZone(""); ip.IsLoopback() || local()[ip] {
				addresses[i] = append(addresses[i], address)
			}
		}
	}
	return names, addresses
}

// addresses returns the addresses at which the agent listens, as far as known without name resolution. Names of other
// machines are known once the agent was reached by name.
func (t *Tap) addresses() []netip.AddrPort {
	if at := t.reached.Load(); at != nil {
		return []netip.AddrPort{*at}
	}
	port, err := strconv.ParseUint(t.agent.Port, 10, 16)
	if err != nil {
		return nil
	}
	at := func(ip netip.Addr) netip.AddrPort { return netip.AddrPortFrom(ip, uint16(port)) }
	ip, err := netip.ParseAddr(t.spec.Agent.Hostname())
	switch {
	case err == nil && !ip.IsUnspecified():
		return []netip.AddrPort{at(ip)}
	case t.agent.Host == hostname.Loopback:
		return []netip.AddrPort{at(netip.AddrFrom4([4]byte{127, 0, 0, 1})), at(netip.IPv6Loopback())}
	}
	return nil
}

// localAddresses returns the addresses of this machine, or none if the system does not report them.
func localAddresses() map[netip.Addr]bool {
	all := make(map[netip.Addr]bool)
	interfaces, _ := net.InterfaceAddrs()
	for _, a := range interfaces {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			all[prefix.Addr().Unmap().WithZone("")] = true
		}
	}
	return all
}

// A pace limits the cost of looks. A look starts as soon as it is requested, because the connection may close soon; one
// look serves all waiting connections. If looks are slow, for example on a machine with many processes, there are fewer
// of them. The zero pace is ready to use.
type pace struct{ paid time.Time } // until when the share of looks is used up

// wait returns how long the next look must wait; 0 or less means not at all.
func (p *pace) wait(now time.Time) time.Duration { return p.paid.Add(-callerSaved).Sub(now) }

// took notes a look.
func (p *pace) took(begun, ended time.Time) {
	if p.paid.Before(begun) {
		p.paid = begun
	}
	p.paid = p.paid.Add(callerShare * ended.Sub(begun))
}
