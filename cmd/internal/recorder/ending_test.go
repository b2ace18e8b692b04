package recorder

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestEnding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e ending
		time.Sleep(time.Hour)
		if e.over() {
			t.Error("a recording that goes on is over")
		}
		e.begin()
		time.Sleep(endPatience)
		if e.over() {
			t.Error("it is over before its time")
		}
		time.Sleep(time.Nanosecond)
		if !e.over() {
			t.Error("it is not over after its time")
		}
	})
}
