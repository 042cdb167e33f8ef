package agreement

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	testframework "k8s.io/kubernetes/pkg/scheduler/testing/framework"
)

// filters are the plugins of the default profile that decide whether a node
// admits a pod, those of features that plans do not use left out.
var filters = []string{
	names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity, names.NodePorts, names.NodeResourcesFit,
	names.VolumeRestrictions, names.NodeVolumeLimits, names.VolumeBinding, names.VolumeZone, names.PodTopologySpread, names.InterPodAffinity,
}

// scheduler is kube-scheduler's filter plugins over a cluster that can be
// swapped for another between two questions.
type scheduler struct {
	framework.Framework
	lister *lister
}

// lister hands the plugins the snapshot of the moment.
type lister struct{ fwk.SharedLister }

func newScheduler(ctx context.Context, t *testing.T, objects []runtime.Object) *scheduler {
	t.Helper()
	metrics.Register()
	client := fake.NewClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	registry := plugins.NewInTreeRegistry()
	register := []testframework.RegisterPluginFunc{
		testframework.RegisterQueueSortPlugin(queuesort.Name, queuesort.New),
		testframework.RegisterBindPlugin(defaultbinder.Name, defaultbinder.New),
	}
	for _, name := range filters {
		points := []string{"Filter"}
		if hasPreFilter(name) {
			points = append(points, "PreFilter")
		}
		register = append(register, testframework.RegisterPluginAsExtensions(name, registry[name], points...))
	}
	s := &scheduler{lister: &lister{cache.NewEmptySnapshot()}}
	var err error
	s.Framework, err = testframework.NewFramework(ctx, register, "default-scheduler",
		frameworkruntime.WithClientSet(client), frameworkruntime.WithInformerFactory(factory), frameworkruntime.WithSnapshotSharedLister(s.lister),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())))
	if err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return s
}

func hasPreFilter(name string) bool {
	switch name {
	case names.NodeUnschedulable, names.NodeName, names.TaintToleration:
		return false
	}
	return true
}

// refuse says why the scheduler would not bind a pod to a node of a cluster, ""
// when it would.
func (s *scheduler) refuse(ctx context.Context, p *corev1.Pod, on string, nodes []*corev1.Node, pods []*corev1.Pod) string {
	snapshot := cache.NewSnapshot(pods, nodes)
	s.lister.SharedLister = snapshot
	state := framework.NewCycleState()
	result, status, _ := s.RunPreFilterPlugins(ctx, state, p)
	if !status.IsSuccess() {
		return "before filtering: " + status.Message()
	}
	if !result.AllNodes() && !result.NodeNames.Has(on) {
		return "before filtering: the node is not among those left"
	}
	info, err := snapshot.NodeInfos().Get(on)
	if err != nil {
		return err.Error()
	}
	if status := s.RunFilterPlugins(ctx, state, p, info); !status.IsSuccess() {
		return status.Plugin() + ": " + status.Message()
	}
	return ""
}
