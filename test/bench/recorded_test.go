package bench

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/test/gen"
)

// shared is where recorded pods may be: $DOVETAIL_SHARED, else beside the tree.
func shared() string {
	if dir := os.Getenv("DOVETAIL_SHARED"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", "shared")
}

// BenchmarkRecorded plans the pods of the openb list on demand, without those
// that want GPUs and with them. It has no cases where the list is not there.
func BenchmarkRecorded(b *testing.B) {
	file := filepath.Join(shared(), "data", "workloads", "openb_pod_list_default.csv")
	rows, err := readList(file)
	if err != nil {
		return
	}
	for _, gpus := range []bool{false, true} {
		name := "openb/cpu"
		if gpus {
			name = "openb/gpu"
		}
		b.Run(name, func(b *testing.B) {
			c := embedded(b)
			snap := gen.OnePool(recorded(b, rows, gpus), true)
			if gpus {
				categories := &snap.NodePools[0].Requirements[2]
				categories.Values = append(categories.Values, "g", "p")
			}
			r := measure(b, &snap, c)
			if !gpus { // the bounds know no GPUs
				against(b, r, &snap, c)
			}
		})
	}
}

// readList reads a CSV file with a head.
func readList(path string) ([]map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	var out []map[string]string
	for _, l := range lines[1:] {
		row := map[string]string{}
		for i, v := range l {
			row[lines[0][i]] = v
		}
		out = append(out, row)
	}
	return out, nil
}

// recorded makes pods of the rows of a list: cores, memory, whole GPUs.
func recorded(b *testing.B, rows []map[string]string, gpus bool) []cluster.Pod {
	b.Helper()
	var out []cluster.Pod
	for _, row := range rows {
		n := func(column string) int64 {
			if row[column] == "" {
				return 0
			}
			v, err := strconv.ParseInt(row[column], 10, 64)
			if err != nil {
				b.Fatalf("%s of %s: %v", column, row["name"], err)
			}
			return v
		}
		if !gpus && n("num_gpu") > 0 {
			continue
		}
		req := map[string]int64{cluster.CPU: max(10, n("cpu_milli")), cluster.Memory: max(16, n("memory_mib")) << 20}
		if g := n("num_gpu"); g > 0 {
			req["nvidia.com/gpu"] = g
		}
		out = append(out, cluster.Pod{
			Namespace: "default", Name: row["name"], UID: row["name"], Labels: map[string]string{"qos": row["qos"]},
			Phase: corev1.PodPending, Unschedulable: true, Requests: cluster.ResourcesOf(req),
		})
	}
	return out
}
