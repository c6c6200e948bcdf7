// The RBAC authorizer of Kubernetes, timed: the same roles, bindings and questions as bench/access-run.c, in informers' caches as the
// API server has them. Prints nanoseconds of one question and a name, for each number of roles.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	listers "k8s.io/client-go/listers/rbac/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
)

const questions = 1000

func indexer() cache.Indexer {
	return cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
}

func newAuthorizer(n int) *rbac.RBACAuthorizer {
	roles, bindings := indexer(), indexer()
	for i := range n {
		roles.Add(&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("role-%d", i)},
			Rules: []rbacv1.PolicyRule{
				{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{""}, Resources: []string{"pods", "services"}},
				{Verbs: []string{"*"}, APIGroups: []string{"apps"}, Resources: []string{"deployments", "statefulsets"}},
				{Verbs: []string{"get", "list", "watch", "update"}, APIGroups: []string{fmt.Sprintf("group-%d.example.org", i)},
					Resources: []string{fmt.Sprintf("widgets-%d", i)}},
			},
		})
		bindings.Add(&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("binding-%d", i), Namespace: "default"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: fmt.Sprintf("role-%d", i)},
			Subjects:   []rbacv1.Subject{{Kind: "User", Name: fmt.Sprintf("user-%d", i)}},
		})
	}
	return rbac.New(
		&rbac.RoleGetter{Lister: listers.NewRoleLister(indexer())},
		&rbac.RoleBindingLister{Lister: listers.NewRoleBindingLister(bindings)},
		&rbac.ClusterRoleGetter{Lister: listers.NewClusterRoleLister(roles)},
		&rbac.ClusterRoleBindingLister{Lister: listers.NewClusterRoleBindingLister(indexer())},
	)
}

func round(a *rbac.RBACAuthorizer, asked []authorizer.AttributesRecord) time.Duration {
	start := time.Now()
	for i := range questions {
		decision, _, err := a.Authorize(context.Background(), &asked[i%len(asked)])
		if decision != authorizer.DecisionAllow || err != nil {
			fmt.Fprintln(os.Stderr, "the authorizer refuses", asked[i%len(asked)], err)
			os.Exit(1)
		}
	}
	return time.Since(start)
}

func main() {
	for _, text := range os.Args[1:] {
		n, err := strconv.Atoi(text)
		if err != nil {
			fmt.Fprintln(os.Stderr, "usage: rbac ROLES...")
			os.Exit(2)
		}
		a := newAuthorizer(n)
		asked := make([]authorizer.AttributesRecord, n)
		for i := range asked {
			asked[i] = authorizer.AttributesRecord{
				User: &user.DefaultInfo{Name: fmt.Sprintf("user-%d", i), Groups: []string{"system:authenticated", "team"}},
				Verb: "update", Namespace: "default", APIGroup: fmt.Sprintf("group-%d.example.org", i),
				Resource: fmt.Sprintf("widgets-%d", i), Name: "a", ResourceRequest: true,
			}
		}
		best := round(a, asked)
		for end := time.Now().Add(time.Second); time.Now().Before(end); {
			best = min(best, round(a, asked))
		}
		fmt.Printf("%d a question among %d roles and bindings\n", best.Nanoseconds()/questions, n)
	}
}
