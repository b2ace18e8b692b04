package analysis

import (
	"hash/maphash"

	"a2atap/analyzer/internal/digest"
	"a2atap/analyzer/internal/recent"
)

// A TaskKey identifies a task: ids are unique for an agent and a tenant. It is a digest of the three, under seeds that
// nobody outside the process can know: maps of ten thousand tasks hold no texts by it, and nothing for the garbage
// collector to follow. Keys of two processes do not compare.
type TaskKey [2]uint64

// taskSeeds are those of the two halves of each TaskKey.
var taskSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// ofNobody is what the keys of ids alone begin with.
var ofNobody = TaskKey{}.and("").and("")

// TaskKeyOf returns the key of an agent's task. The tenant is empty where there is none, and so is the agent for an id
// alone.
func TaskKeyOf(agent, tenant, id string) TaskKey {
	if agent == "" && tenant == "" {
		return ofNobody.and(id)
	}
	return TaskKey{}.and(agent).and(tenant).and(id)
}

// and returns the key with one more name.
func (k TaskKey) and(name string) TaskKey {
	for i, seed := range taskSeeds {
		k[i] = uint64(digest.Digest(k[i]).Number(maphash.String(seed, name)))
	}
	return k
}

// RecentByTask returns an empty map from tasks that holds at most limit entries.
func RecentByTask[V any](limit int) *recent.Map[TaskKey, V] {
	return recent.NewHashed[TaskKey, V](limit, func(k TaskKey) uint32 { return uint32(k[0]) })
}

// taskKeys works out the keys of tasks of one agent and tenant, and that of the one that was asked for last not again.
type taskKeys struct {
	agent, tenant, id string
	begin, key        TaskKey
}

// of returns what TaskKeyOf does.
func (k *taskKeys) of(agent, tenant, id string) TaskKey {
	switch same := k.key != (TaskKey{}) && k.agent == agent && k.tenant == tenant; {
	case !same:
		k.agent, k.tenant, k.begin = agent, tenant, TaskKey{}.and(agent).and(tenant)
	case k.id == id:
		return k.key
	}
	k.id, k.key = id, k.begin.and(id)
	return k.key
}
