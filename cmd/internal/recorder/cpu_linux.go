package recorder

import (
	"bytes"
	"os"
	"strconv"
)

// readCPUTimes reads the first line of /proc/stat: cpu, then the times user, nice, system, idle, and iowait, and
// further ones (proc_stat(5)).
func readCPUTimes() (t cpuTimes) {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return cpuTimes{}
	}
	defer f.Close()
	var room [512]byte
	n, err := f.Read(room[:])
	if err != nil {
		return cpuTimes{}
	}
	line, _, _ := bytes.Cut(room[:n], []byte("\n"))
	for i, word := range bytes.Fields(line) {
		if i == 0 {
			continue
		}
		n, err := strconv.ParseUint(string(word), 10, 64)
		if err != nil {
			return cpuTimes{}
		}
		if i <= 8 { // guest time is already in user and nice
			t.all += n
		}
		if i == 4 || i == 5 {
			t.idle += n
		}
	}
	return t
}
