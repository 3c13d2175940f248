// Copyright (c) 2026 better_compute.fleet contributors
// GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// One program that is a Kubernetes control plane for tests: etcd, kube-apiserver or kube-controller-manager, whichever
// name it is called by. Each is the published module's own main with its own flags, so a folder with three links to it
// is what envtest calls KUBEBUILDER_ASSETS. One program, because the three share most of what they are made of: it
// takes a third of the time and space to link and keep.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() {
	switch name := filepath.Base(os.Args[0]); name {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "kube-controller-manager":
		os.Exit(cli.Run(controllermanager.NewControllerManagerCommand()))
	default:
		fmt.Fprintf(os.Stderr, "call it etcd, kube-apiserver or kube-controller-manager, not %s\n", name)
		os.Exit(2)
	}
}
