package capture

// Gaps are limitations of a capture as a whole: missing or unreliable parts. Every copy of the capture has the same
// gaps, in each format. The zero Gaps is empty.
type Gaps struct {
	Exchanges  int64  // of which nothing was recorded
	Crashes    uint64 // recorders that were killed
	Crash      Crash  // the last of those
	Insecure   bool   // agents on TLS were not verified
	Secrets    bool   // redaction was turned off
	Unfinished bool   // it is a copy of a capture that was still being recorded
}

// GapsOf returns the gaps of a capture, in the form in which a copy of it states them.
func GapsOf(info *Info) Gaps {
	return Gaps{
		info.LostExchanges, info.Crashes, info.Crash, info.Insecure, info.SecretsKept, info.Provisional(),
	}
}

// Describe puts the gaps into what describes a copy of the capture.
func (g *Gaps) Describe(info *Info) {
	info.LostExchanges, info.Crashes, info.Crash, info.Insecure = g.Exchanges, g.Crashes, g.Crash, g.Insecure
	info.SecretsKept, info.Unfinished = g.Secrets, g.Unfinished
}

// Add adds the gaps of another capture whose exchanges are in the same copy. Of two crashes, the later one counts.
func (g *Gaps) Add(other Gaps) {
	g.Exchanges = AddLost(g.Exchanges, other.Exchanges)
	if g.Crashes == 0 || other.Crashes > 0 && other.Crash.After.After(g.Crash.After) {
		g.Crash = other.Crash
	}
	g.Crashes += other.Crashes
	g.Insecure = g.Insecure || other.Insecure
	g.Secrets = g.Secrets || other.Secrets
	g.Unfinished = g.Unfinished || other.Unfinished
}
