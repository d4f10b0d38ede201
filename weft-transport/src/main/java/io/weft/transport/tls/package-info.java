// SPDX-License-Identifier: Apache-2.0
/// TLS 1.3 as the JDK has it: certificates that a process makes for itself, trust that rests on the
/// job's secret, and one connection as a function from bytes to bytes. No sockets here.
@NullMarked
package io.weft.transport.tls;

import org.jspecify.annotations.NullMarked;
