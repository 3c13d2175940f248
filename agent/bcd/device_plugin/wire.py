# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kubelet's device plugin API, v1beta1: its messages and the names of its calls.

The table below is the part of Kubernetes' published `k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1/api.proto` that bcd
speaks, with its names and field numbers. The classes are made from it when this file is imported: no generated code, no
compiler, and nothing that could differ from what is read here. Fields that are left out are ones that bcd does not set;
what the kubelet sends in such a field is skipped, as protobuf has it.
"""

from __future__ import annotations

from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

API_VERSION: Final = "v1beta1"
HEALTHY: Final = "Healthy"
UNHEALTHY: Final = "Unhealthy"

KUBELET_SOCKET: Final = "kubelet.sock"
"""The kubelet's own socket, in the folder where the plugins have theirs."""

REGISTRATION: Final = "v1beta1.Registration"
DEVICE_PLUGIN: Final = "v1beta1.DevicePlugin"

_PACKAGE = "v1beta1"
# A type is a scalar, a message of this table, or a map of strings; `*` is repeated.
_MESSAGES: dict[str, tuple[tuple[int, str, str], ...]] = {
    "Empty": (),
    "DevicePluginOptions": ((1, "bool", "pre_start_required"), (2, "bool", "get_preferred_allocation_available")),
    "RegisterRequest": (
        (1, "string", "version"),
        (2, "string", "endpoint"),
        (3, "string", "resource_name"),
        (4, "DevicePluginOptions", "options"),
    ),
    "Device": ((1, "string", "ID"), (2, "string", "health")),
    "ListAndWatchResponse": ((1, "*Device", "devices"),),
    "ContainerPreferredAllocationRequest": (
        (1, "*string", "available_deviceIDs"),
        (2, "*string", "must_include_deviceIDs"),
        (3, "int32", "allocation_size"),
    ),
    "PreferredAllocationRequest": ((1, "*ContainerPreferredAllocationRequest", "container_requests"),),
    "ContainerPreferredAllocationResponse": ((1, "*string", "deviceIDs"),),
    "PreferredAllocationResponse": ((1, "*ContainerPreferredAllocationResponse", "container_responses"),),
    "ContainerAllocateRequest": ((1, "*string", "devices_ids"),),
    "AllocateRequest": ((1, "*ContainerAllocateRequest", "container_requests"),),
    "Mount": ((1, "string", "container_path"), (2, "string", "host_path"), (3, "bool", "read_only")),
    "DeviceSpec": ((1, "string", "container_path"), (2, "string", "host_path"), (3, "string", "permissions")),
    "ContainerAllocateResponse": ((1, "map", "envs"), (2, "*Mount", "mounts"), (3, "*DeviceSpec", "devices")),
    "AllocateResponse": ((1, "*ContainerAllocateResponse", "container_responses"),),
}

_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {"bool": _Field.TYPE_BOOL, "int32": _Field.TYPE_INT32, "string": _Field.TYPE_STRING}


def _file() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="bcd/deviceplugin.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, kind, field in fields:
            if kind == "map":
                _add_map(message, number, field)
            else:
                _add_field(message, number, kind, field)
    return file


def _add_field(message: Any, number: int, kind: str, name: str) -> None:
    label = _Field.LABEL_REPEATED if kind.startswith("*") else _Field.LABEL_OPTIONAL
    field = message.field.add(name=name, number=number, label=label)
    kind = kind.lstrip("*")
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type = _Field.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{kind}"


def _add_map(message: Any, number: int, name: str) -> None:
    """A map is a repeated message of key and value, under a name that protobuf prescribes."""
    entry = message.nested_type.add(name=f"{name.capitalize()}Entry")
    entry.options.map_entry = True
    _add_field(entry, 1, "string", "key")
    _add_field(entry, 2, "string", "value")
    _add_field(message, number, f"*{message.name}.{entry.name}", name)


# A pool of its own: another package of the process may bring the same API's types, and one name may be there once.
_pool = descriptor_pool.DescriptorPool()
_pool.Add(_file())


def _message(name: str) -> Any:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


Empty = _message("Empty")
DevicePluginOptions = _message("DevicePluginOptions")
RegisterRequest = _message("RegisterRequest")
Device = _message("Device")
ListAndWatchResponse = _message("ListAndWatchResponse")
PreferredAllocationRequest = _message("PreferredAllocationRequest")
ContainerPreferredAllocationResponse = _message("ContainerPreferredAllocationResponse")
PreferredAllocationResponse = _message("PreferredAllocationResponse")
AllocateRequest = _message("AllocateRequest")
Mount = _message("Mount")
DeviceSpec = _message("DeviceSpec")
ContainerAllocateResponse = _message("ContainerAllocateResponse")
AllocateResponse = _message("AllocateResponse")
