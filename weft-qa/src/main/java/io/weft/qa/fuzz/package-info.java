// SPDX-License-Identifier: Apache-2.0
/// A small coverage-guided fuzzer. It passes mutated bytes to decoders, which must end as
/// documented within bounded memory and time. Only one fuzzer may run in a process.
@NullMarked
package io.weft.qa.fuzz;

import org.jspecify.annotations.NullMarked;
