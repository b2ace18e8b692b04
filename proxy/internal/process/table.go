package process

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/netip"
	"strconv"
)

// A table has the listening and the requested sockets from /proc/net/tcp and tcp6.
type table struct {
	wanted    map[Pair]int    // connections by their ends
	clients   map[uint16]bool // ports that these connections come from
	listeners []listener
	made      []uint64 // inode of each connection; may be 0
}

func newTable(connections []Pair) table {
	t := table{
		wanted: make(map[Pair]int), clients: make(map[uint16]bool),
		made: make([]uint64, len(connections)),
	}
	for i, c := range connections {
		t.wanted[c.unmapped()] = i
		t.clients[c.Local.Port()] = true
	}
	return t
}

// States of a socket: the kernel's include/net/tcp_states.h.
const stateListen = "0A"

// read reads one file. Invalid lines are skipped.
func (t *table) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		t.line(lines.Bytes())
	}
	return lines.Err()
}

// line parses the line of one socket: its number, its two ends, its state, four fields, the user, timeout and inode.
func (t *table) line(line []byte) {
	var fields [10][]byte
	for i := range fields {
		line = bytes.TrimLeft(line, " ")
		end := bytes.IndexByte(line, ' ')
		if end < 0 {
			return
		}
		fields[i], line = line[:end], line[end:]
	}
	port, ok := portOf(fields[1])
	listens := string(fields[3]) == stateListen
	if !ok || !listens && !t.clients[port] {
		return
	}
	local, ok := parseEnd(fields[1])
	if !ok {
		return
	}
	inode, err := strconv.ParseUint(string(fields[9]), 10, 64)
	if err != nil || inode == 0 { // no process holds it any more
		return
	}
	if listens {
		t.listeners = append(t.listeners, listener{unmapped(local), inode})
		return
	}
	remote, ok := parseEnd(fields[2])
	if !ok {
		return
	}
	if i, wanted := t.wanted[Pair{local, remote}.unmapped()]; wanted {
		t.made[i] = inode
	}
}

// portOf returns the port of an end, four digits after a colon.
func portOf(end []byte) (port uint16, ok bool) {
	_, digits, found := bytes.Cut(end, []byte(":"))
	n, err := strconv.ParseUint(string(digits), 16, 16)
	return uint16(n), found && err == nil
}

// parseEnd reads an end, ADDRESS:PORT in hexadecimal. The address is words of 32 bits, each in the order of the
// machine.
func parseEnd(end []byte) (netip.AddrPort, bool) {
	digits, _, _ := bytes.Cut(end, []byte(":"))
	port, ok := portOf(end)
	if !ok || len(digits) != 8 && len(digits) != 32 {
		return netip.AddrPort{}, false
	}
	address := make([]byte, len(digits)/2)
	if _, err := hex.Decode(address, digits); err != nil {
		return netip.AddrPort{}, false
	}
	for word := address; len(word) > 0; word = word[4:] {
		binary.BigEndian.PutUint32(word, binary.NativeEndian.Uint32(word))
	}
	ip, _ := netip.AddrFromSlice(address)
	return netip.AddrPortFrom(ip, port), true
}
