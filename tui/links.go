package tui

import (
	"sync/atomic"

	"a2atap/analyzer"
	"a2atap/analyzer/track/workflow"
)

// links holds what caused what in a capture, as the engines that judge it tell: 16 bytes for each exchange. The zero
// links are ready for use, by several goroutines at once.
type links struct {
	index workflow.Index
	told  atomic.Uint64 // how often something was told
	last  atomic.Uint64 // the last exchange of which something was told
}

// put takes a link.
func (l *links) put(link workflow.Link) {
	l.index.Put(link)
	for last := l.last.Load(); link.Exchange > last && !l.last.CompareAndSwap(last, link.Exchange); {
		last = l.last.Load()
	}
	l.told.Add(1)
}

// newEngine returns a new engine over the capture, which tells the links as it judges.
func (l *loader) newEngine() *analyzer.Engine {
	options := append(workflow.Into(l.links.put), analyzer.From(l.ctx, l.src), analyzer.Watched(&l.observed.own))
	return analyzer.NewEngine(l.rules, append(options, l.keys...)...)
}
