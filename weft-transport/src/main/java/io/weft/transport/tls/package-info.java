// SPDX-License-Identifier: Apache-2.0
/// TLS 1.3 of the JDK: self-signed certificates, trust based on the job's secret, and one
/// connection as a function from bytes to bytes. The package contains no sockets.
@NullMarked
package io.weft.transport.tls;

import org.jspecify.annotations.NullMarked;
