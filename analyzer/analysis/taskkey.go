package analysis

import (
	"hash/maphash"

	"a2atap/analyzer/internal/digest"
	"a2atap/analyzer/internal/recent"
)

// A TaskKey identifies a task: ids are unique for an agent and a tenant. It is a digest of the three with random seeds
// of this process, so that maps of ten thousand tasks contain no strings and no pointers. Keys of different processes
// are not comparable.
type TaskKey [2]uint64

// taskSeeds are the seeds of the two halves of each TaskKey.
var taskSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// ofNobody is the prefix of keys of ids alone.
var ofNobody = TaskKey{}.and("").and("")

// TaskKeyOf returns the key of an agent's task. tenant may be empty. agent may be empty, too, for a key by id alone.
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

// taskKeys computes the keys of tasks of one agent and tenant, and caches the last one.
type taskKeys struct {
	agent, tenant, id string
	begin, key        TaskKey
}

// of is TaskKeyOf with the cache.
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
