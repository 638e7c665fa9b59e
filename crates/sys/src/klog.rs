//! The log of the kernel.

/// Everything that is in it; none without the right to read it.
pub fn read_all() -> Option<String> {
    const READ_ALL: libc::c_int = 3;
    const SIZE: libc::c_int = 10;
    // SAFETY: this action takes no buffer.
    let size = unsafe { libc::klogctl(SIZE, std::ptr::null_mut(), 0) };
    let mut buffer = vec![0_u8; usize::try_from(size).ok()?];
    // SAFETY: the kernel writes at most the length that is told.
    let read = unsafe { libc::klogctl(READ_ALL, buffer.as_mut_ptr().cast(), size) };
    buffer.truncate(usize::try_from(read).ok()?);
    Some(String::from_utf8_lossy(&buffer).into_owned())
}
