package merge

import (
	"fmt"
	"strings"

	"a2atap/proxy/capture"
)

// says puts the host in front of a reason.
func (r *recorder) says(reason string) string {
	if reason == "" {
		reason = "not recorded"
	}
	if strings.HasPrefix(reason, r.Host+" ") {
		return reason // the reason already names the host
	}
	return r.Host + ": " + reason
}

// leaveOut counts a step of an exchange whose beginning is not in the recording.
func (r *recorder) leaveOut(s capture.Step) {
	if _, known := r.out.headless[s.Seq]; !known {
		r.out.headless[s.Seq] = struct{}{}
		r.out.missing++
	}
	switch what := s.What.(type) {
	case capture.RequestBody:
		r.out.bytes += int64(len(what.Data)) + what.Dropped
	case capture.ResponseBody:
		r.out.bytes += int64(len(what.Data)) + what.Dropped
	case capture.ResponseEvent:
		r.out.bytes += int64(len(what.Event.Raw)) + what.Event.Dropped
	case capture.Closed:
		r.out.bytes += what.Dropped
	case capture.Lost:
		r.out.bytes += what.Bytes
	}
}

// tellHeadless reports how many exchanges of a recorder were left out since the last report.
func (w *writer) tellHeadless(r *recorder) error {
	n, bytes := r.out.missing, r.out.bytes
	if n == 0 {
		return nil
	}
	r.out.missing, r.out.bytes = 0, 0
	w.count(func(sum *Summary) { sum.Lost += n })
	return w.say(0, capture.Lost{
		Exchanges: n, Bytes: bytes, Reason: r.says("their beginning is not in " + r.Name),
	})
}

func (w *writer) tellLossesOf(r *recorder) error {
	if n := r.info.LostExchanges - r.losses - r.saidLost; n > 0 {
		r.saidLost += n
		err := w.say(0, capture.Lost{
			Exchanges: n, Reason: r.says("lost, as " + r.Name + " says"),
		})
		if err != nil {
			return err
		}
	}
	if r.info.Crashes > r.said.Crashes {
		r.said.Crashes = r.info.Crashes
		lost := r.info.Crash.Lost()
		lost.Reason = r.says(fmt.Sprintf("%s (%s)", r.info.Crash, r.Name))
		return w.say(0, lost)
	}
	return nil
}
