// SPDX-License-Identifier: Apache-2.0
/// A small coverage-guided fuzzer: decoders get mutated bytes and must end as documented, within
/// bounded memory and time. One fuzzer at a time in a process.
@NullMarked
package io.weft.qa.fuzz;

import org.jspecify.annotations.NullMarked;
