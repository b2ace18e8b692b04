package proxy

import (
	"context"
	"net"
	"net/netip"
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
	callerRate    = 20                     // looks in any second, at most
	callerLong    = 10 * time.Millisecond  // of a look: longer ones
	callerShare   = 10                     // take one part of the time in so many, at most
	maxCallers    = 4096                   // connections that wait for a look
	callerRetry   = time.Second            // that nobody is looked for after a look at which no agent could be recognised
)

// callers finds out which clients of this machine are agents themselves: those whose process listens where exactly one
// agent of a tap lives. Of the others it finds out on which ports they listen: another recorder of this machine may
// know the agent there. It looks at all connections that wait, together, on a goroutine of its own that ends when there
// are none.
//
// An agent that calls itself through its own tap is not looked for: that is what a test does which has both ends in one
// process, and to call it the agent would say less than its User-Agent does.
type callers struct {
	proxy    *Proxy
	patience time.Duration // that a recording has with the search for a client
	find     func(context.Context, [][]netip.AddrPort, []process.Pair) (finding, error)

	mu      sync.Mutex
	waiting []*search
	running bool
	warm    bool      // who listens for agents should be known before somebody asks
	idle    time.Time // until when no look is worth it
	pace    pace
}

// A search is for the process of one caller.
type search struct {
	recording.Caller
	pair process.Pair
	tap  string // the agent that it calls, as families of taps are named; empty for any
	conn *recording.Conn
}

// A finding is what came of a look.
type finding struct {
	recognisable bool // it is known of an agent, or of who else listens, which process it is
	callers      []caller
}

// A caller is who made a connection.
type caller struct {
	agent    int
	relation process.Relation
	ports    []uint16 // on which its process listens
}

// How the process of a client is known to be that of an agent.
var byProcess = map[process.Relation]string{
	process.Same:   "socket of the agent's process",
	process.Child:  "socket of a child of the agent's process",
	process.Parent: "socket of the parent of the agent's process",
}

func newCallers(p *Proxy) *callers {
	var finder process.Finder
	return &callers{proxy: p, patience: callerWait, find: func(ctx context.Context, agents [][]netip.AddrPort,
		connections []process.Pair,
	) (finding, error) {
		var f finding
		survey, err := finder.Find(ctx, agents, connections)
		f.recognisable = survey.Recognisable()
		f.callers = slices.Grow(f.callers, len(connections))[:len(connections)]
		for i := range f.callers {
			f.callers[i].agent, f.callers[i].relation = survey.Caller(i)
			f.callers[i].ports = survey.Ports(i)
		}
		return f, err
	}}
}

// look begins the search for the client of a connection, if it is on this machine. It does not wait. Serve must be
// running.
func (c *callers) look(client net.Conn, tap string, conn *recording.Conn) {
	from, _ := client.RemoteAddr().(*net.TCPAddr)
	to, _ := client.LocalAddr().(*net.TCPAddr)
	if c.proxy.opts.NoCallers || from == nil || to == nil || !from.IP.IsLoopback() && !from.IP.Equal(to.IP) {
		return
	}
	now := time.Now()
	one := &search{
		Caller: recording.Caller{
			Until: now.Add(c.patience), Done: make(chan struct{}), Home: capture.Home{Machine: process.Machine()},
		},
		pair: process.Pair{Local: from.AddrPort(), Remote: to.AddrPort()}, tap: tap, conn: conn,
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) >= maxCallers || now.Before(c.idle) {
		return
	}
	conn.Caller = &one.Caller
	c.waiting = append(c.waiting, one)
	c.start()
}

// reached notes at which address an agent was reached. If it is not known who listens there, it is worth a look again.
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

// prepare looks who listens for the agents, so that it is known when they call: a connection can be over in less time
// than that takes. Serve must be running.
func (c *callers) prepare() {
	if c.proxy.opts.NoCallers {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle, c.warm = time.Time{}, true
	c.start()
}

// start sees to it that somebody looks. The caller holds c.mu.
func (c *callers) start() {
	if !c.running {
		c.running = true
		c.proxy.served.Go(c.run)
	}
}

// run looks until nobody waits.
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
		if recognisable := c.lookAt(ctx, batch); !recognisable {
			c.mu.Lock()
			c.idle = time.Now().Add(callerRetry)
			c.mu.Unlock()
		}
		ended := time.Now()
		if len(batch) == 0 { // who asks next should not wait because of what was done beforehand
			ended = begun
		}
		c.mu.Lock()
		c.pace.took(begun, ended)
		c.mu.Unlock()
	}
}

// lookAt looks once, for all of a batch. It reports whether an agent could be recognised, whoever calls.
func (c *callers) lookAt(ctx context.Context, batch []*search) bool {
	defer func() {
		for _, one := range batch {
			close(one.Done)
			if one.Name != "" || len(one.Home.Ports) > 0 {
				one.conn.Recognised()
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
	if err != nil { // whatever it is, the client goes by its User-Agent
		return ctx.Err() != nil
	}
	for i, one := range batch {
		one.Home.Ports = found.callers[i].ports
		if by := found.callers[i]; by.relation != process.None && names[by.agent] != one.tap {
			one.Name, one.How = names[by.agent], byProcess[by.relation]
		}
	}
	return found.recognisable
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

// addresses returns where the agent listens, as far as that is known without asking anybody: a name other than those of
// this machine's own is known when the agent was reached by it.
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

// localAddresses returns the addresses of this machine, none if the system does not say.
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

// A pace keeps looks apart: there are at most callerRate in any second. They are taken as they are asked for, since a
// connection may be over soon, and all that wait for the next are looked at together. What makes a look long, such as a
// machine with very many processes, makes it rare.
type pace struct {
	last [callerRate]time.Time // when the last looks began, the oldest at next
	next int
	rest time.Time // no look before
}

// wait returns how long the next look has to wait; it need not if that is not more than 0.
func (p *pace) wait(now time.Time) time.Duration {
	wait := p.rest.Sub(now)
	if oldest := p.last[p.next]; !oldest.IsZero() {
		wait = max(wait, oldest.Add(time.Second).Sub(now))
	}
	return wait
}

// took notes a look.
func (p *pace) took(begun, ended time.Time) {
	p.last[p.next] = begun
	p.next = (p.next + 1) % callerRate
	if took := ended.Sub(begun); took > callerLong {
		p.rest = ended.Add((callerShare - 1) * took)
	}
}
