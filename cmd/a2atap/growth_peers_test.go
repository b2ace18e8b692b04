package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// sqlite prints what the same looks take in SQLite: a row for each exchange, with an index of tasks.
func (g *growth) sqlite(n int, file, task string) {
	program, rows, done := g.peer(n, "sqlite3", "rows.csv")
	if program == "" {
		return
	}
	defer done()
	g.say("growth", "rows", file, rows)
	db := filepath.Join(g.folder, "rows.db")
	defer os.Remove(db)
	g.run(program, db, "create table x(n integer primary key, task text, request text, answer text);",
		".mode csv", ".import "+rows+" x", "create index tasks on x(task);")
	for _, look := range []struct{ name, sql string }{
		{"SQLite: one", fmt.Sprintf("select * from x where n = %d;", n/2)},
		{"SQLite: of a task", fmt.Sprintf("select * from x where task = '%s';", task)},
		{"SQLite: the last 50", "select * from x order by n desc limit 50;"},
	} {
		g.print(n, look.name, growthRuns, program, db, look.sql)
	}
}

// mitmdump prints what it takes mitmproxy to read the same exchanges as flows, all and those of a task.
func (g *growth) mitmdump(n int, file, task string) {
	program, flows, done := g.peer(n, "mitmdump", "flows")
	if program == "" {
		return
	}
	defer done()
	har := filepath.Join(g.folder, "flows.har")
	defer os.Remove(har)
	g.run(g.path, "export", file, "--format", "har", "-o", har)
	g.run(program, "-q", "-nr", har, "-w", flows)
	g.print(n, "mitmdump -nr: all", 1, program, "-q", "-nr", flows)
	g.print(n, "mitmdump -nr: of a task", 1, program, "-nr", flows, "~b "+task)
}

// tshark prints what it takes Wireshark to read the same exchanges as packets, all and those of a task.
func (g *growth) tshark(n int, file, task string) {
	program, packets, done := g.peer(n, "tshark", "packets.pcap")
	if program == "" {
		return
	}
	defer done()
	g.say("growth", "packets", file, packets)
	g.print(n, "tshark -r: all", 1, program, "-r", packets)
	g.print(n, "tshark -r: of a task", 1, program, "-r", packets, "-Y", `frame contains "`+task+`"`)
}

// peer finds a program, and reports if it is missing; done removes its input file.
func (g *growth) peer(n int, name, reads string) (program, file string, done func()) {
	program, err := exec.LookPath(name)
	if err != nil {
		fmt.Fprintf(g.table, "%d\t%s is not installed\t\t\t\t\n", n, name)
	}
	file = filepath.Join(g.folder, reads)
	return program, file, func() { os.Remove(file) }
}
