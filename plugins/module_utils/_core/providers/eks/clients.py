# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""boto3's clients for one account: time-outs, endpoint and certificates in one place. Each is made when first used."""

from __future__ import annotations

import ipaddress
import threading
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...model.errors import InvalidRequest, PermissionDenied
from ...model.first_import import ONE_IMPORTS
from . import errors
from .credentials import AccessKey, read_access_key
from .settings import EksSettings

if TYPE_CHECKING:
    import boto3
    from botocore.config import Config
    from botocore.loaders import Loader
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_eks import EKSClient
    from mypy_boto3_iam import IAMClient
    from mypy_boto3_sts import STSClient

CONNECT_TIMEOUT_SECONDS = 3
"""A regional endpoint that takes longer to accept a connection is down; the pass comes again."""

READ_TIMEOUT_SECONDS = 10
"""EKS answers its slowest call, a create, within a few seconds. With the connect time-out well inside a 60 s lease."""


class Clients:
    """The AWS services that the driver calls, through one account's credential. Safe to share between threads."""

    def __init__(self, *, session: boto3.Session, config: Config, settings: EksSettings) -> None:
        """Keep what every client is made with. Use :meth:`open`."""
        self._session = session
        self._config = config
        self._endpoint = settings.endpoint_url
        self._verify = _trust(settings)
        self._making = threading.Lock()  # a session makes its clients one at a time (boto3's guide on threads)

    @classmethod
    def open(cls, settings: EksSettings) -> Clients:
        """Find the credential and get ready. Makes no call to EKS, EC2, IAM or STS for `env` and `file` credentials.

        Raises:
            PermissionDenied: the credential's source is missing or incomplete.
            InvalidRequest: the CA file does not exist.
        """
        with ONE_IMPORTS:
            from botocore.config import Config
            from botocore.exceptions import BotoCoreError

        if settings.ca_file and not Path(settings.ca_file).is_file():
            raise InvalidRequest(f"the account's caFile {settings.ca_file} does not exist")
        config = Config(
            connect_timeout=CONNECT_TIMEOUT_SECONDS,
            read_timeout=READ_TIMEOUT_SECONDS,
            # Calls retries throttling within a budget; retries under it would make that budget a lie.
            retries={"total_max_attempts": 1, "mode": "standard"},
            # A proxy cannot reach this machine's own loopback addresses.
            proxies={} if _is_loopback(settings.endpoint_url) else None,
        )
        try:
            session = _session(settings)
            found = session.get_credentials() is not None
        except BotoCoreError as error:
            problem: Exception = errors.translate(error)
        else:
            if found:
                return cls(session=session, config=config, settings=settings)
            problem = PermissionDenied(
                "no AWS credentials found: boto3's chain (environment, shared files, container, instance) has none"
            )
        raise problem

    @cached_property
    def eks(self) -> EKSClient:
        """EKS."""
        with self._making:
            return self._session.client("eks", config=self._config, endpoint_url=self._endpoint, verify=self._verify)

    @cached_property
    def ec2(self) -> EC2Client:
        """EC2, for the subnets' zones and the machines' architectures."""
        with self._making:
            return self._session.client("ec2", config=self._config, endpoint_url=self._endpoint, verify=self._verify)

    @cached_property
    def iam(self) -> IAMClient:
        """IAM, for a role's path."""
        with self._making:
            return self._session.client("iam", config=self._config, endpoint_url=self._endpoint, verify=self._verify)

    @cached_property
    def sts(self) -> STSClient:
        """STS, for who we are, and for the address that bearer tokens are signed for."""
        with self._making:
            return self._session.client("sts", config=self._config, endpoint_url=self._endpoint, verify=self._verify)

    def access_key(self) -> AccessKey:
        """The credential as it is now; boto3 renews temporary ones before they end. For signing, in memory only.

        Raises:
            PermissionDenied: it is gone, or cannot be renewed.
        """
        from botocore.exceptions import BotoCoreError

        try:
            found = self._session.get_credentials()
            frozen = found.get_frozen_credentials() if found else None
        except BotoCoreError as error:
            problem: Exception = errors.translate(error)
        else:
            if frozen and frozen.access_key and frozen.secret_key:
                return AccessKey(key_id=frozen.access_key, secret=frozen.secret_key, session_token=frozen.token or None)
            problem = PermissionDenied("no AWS credentials found")
        raise problem


def _session(settings: EksSettings) -> boto3.Session:
    with ONE_IMPORTS:
        import boto3
        import botocore.session

    if isinstance(settings.credential, str):
        core = botocore.session.Session()
        core.register_component("data_loader", _api_models())
        return boto3.Session(region_name=settings.region, botocore_session=core)
    key = read_access_key(settings.credential)
    # Without this, an AWS_PROFILE meant for something else would be looked up, and fail where it does not exist.
    no_profile: dict[str, tuple[None, None, None, None]] = {"profile": (None, None, None, None)}
    core = botocore.session.Session(session_vars=no_profile)
    core.register_component("data_loader", _api_models())
    return boto3.Session(
        aws_access_key_id=key.key_id,
        aws_secret_access_key=key.secret,
        aws_session_token=key.session_token,
        region_name=settings.region,
        botocore_session=core,
    )


@cache
def _api_models() -> Loader:
    """The APIs' models, read once in a process: they are most of what opening a driver costs (0.15 s of 0.18 s)."""
    from botocore.loaders import create_loader

    return create_loader()


def _trust(settings: EksSettings) -> str | bool | None:
    """What certificates are checked against.

    The account's CA file comes first. An endpoint of the account's own without one is checked against the public
    authorities: AWS_CA_BUNDLE is for AWS's addresses, and must not decide about others. None leaves it to boto3.
    """
    if settings.ca_file:
        return settings.ca_file
    return True if settings.endpoint_url else None


def _is_loopback(url: str | None) -> bool:
    host = urlsplit(url).hostname if url else None
    if host is None:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
