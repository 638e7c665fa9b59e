//! Real recordings, with results that were computed elsewhere.
//!
//! Invariant (captures): Real captures have the figures that were computed elsewhere.

use crate::common::*;
use latlab_capture::{EdgeKind, Kind, Threshold, survey};

/// Name, responses, and min, mean, max in microseconds.
const AVIAN2: [(&str, u64, f64, f64, f64); 8] = [
    ("01_arduino_irq", 500, 8.9476, 9.067269, 14.0163),
    ("01_arduino_polling", 500, 6.6675, 8.658115, 14.8937),
    ("01_rpi_c_kmod", 500, 6.0367, 12.676114, 43.7788),
    ("01_rpi_c_kmod_busy", 500, 4.7613, 7.697593, 16.1193),
    ("01_rpi_c_userspace", 500, 179.9882, 280.50451, 511.2023),
    ("01_rpi_c_userspace_busy", 499, 189.2116, 209.94394, 460.4048),
    ("01_rpi_python", 500, 143.1988, 212.912935, 377.4056),
    ("01_rpi_python_busy", 500, 152.4069, 164.046394, 357.6117),
];

#[test]
fn the_series_of_oscilloscope_readings_have_their_figures() {
    for (name, count, min, mean, max) in AVIAN2 {
        let Some(path) = recording(&format!("avian2/{name}.out")) else { return };
        let (measured, delays) = measured(&path, &asked_of_list()).unwrap();
        assert_eq!((delays.len() as u64, measured.counts.stimuli), (count, 500), "{name}");
        assert_eq!(measured.counts.censored, 500 - count, "{name}");
        let figures = &measured.figures;
        assert_eq!(figures.min_ps().map(|it| it as f64 / 1e6), Some(min), "{name}");
        assert_eq!(figures.max_ps().map(|it| it as f64 / 1e6), Some(max), "{name}");
        assert!((figures.mean_ps().unwrap() / 1e6 - mean).abs() < 1e-6, "{name}");
    }
}

#[test]
fn a_list_with_mistakes_is_read_without_them() {
    let Some(path) = recording("koenichiwa/RT6__read_interval_0.csv") else { return };
    let (found, delays) = measured(&path, &asked_of_list()).unwrap();
    assert!(found.first_row_left_out);
    assert_eq!((delays.len(), found.counts.impossible, found.counts.missing), (9_998, 1, 0));
    assert_eq!(found.impossible[0].1, -998_971_927_000);
    assert_eq!(found.figures.min_ps(), Some(25_365_000));
    let Some(path) = recording("koenichiwa/NO_RT6__read_interval_0.csv") else { return };
    let (found, delays) = measured(&path, &asked_of_list()).unwrap();
    assert_eq!((delays.len(), found.counts.missing, found.counts.stimuli), (9_998, 1, 9_999));
    assert!((found.figures.mean_ps().unwrap() / 1e3 - 34_772.5).abs() < 0.1);
}

#[test]
fn the_lagbox_counts_in_microseconds() {
    let name = "PDA-UR-lagbox/1ms_polling__AUTO_arduino_1ms_1.csv";
    let Some(path) = recording(name) else { return };
    let (found, delays) = measured(&path, &asked_of_list()).unwrap();
    assert_eq!((delays.len(), found.format), (1_000, "list of a LagBox"));
    assert_eq!(found.figures.min_ps(), Some(9_000_000));
    assert_eq!(found.figures.max_ps(), Some(1_620_000_000));
    assert!((found.figures.mean_ps().unwrap() / 1e6 - 82.097).abs() < 1e-9);
}

#[test]
fn a_session_of_a_serial_line_has_its_edges() {
    let path = fixture("uart_rts_1_excess_bytes.sr");
    let with =
        latlab_capture::CaptureQuery { response_edge: EdgeKind::Falling, ..query("RTS#", "RX") };
    let (found, delays) = measured(&path, &with).unwrap();
    assert_eq!(delays.len(), 1);
    assert!((delays[0] as f64 / 1e6 - 116.0 / 24.0).abs() < 0.001, "{delays:?}");
    assert_eq!((found.counts.double, found.counts.spurious), (1, 706));
    assert_eq!(found.resolution_ps, Some(41_667));
}

#[test]
fn a_session_without_a_samplerate_is_refused_in_one_line() {
    let error = measured(&fixture("no-samplerate.sr"), &query("SCL", "SDA")).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("no samplerate") && !error.contains('\n'), "{error}");
}

#[test]
fn logic_and_analog_of_one_session_tell_the_same_clock() {
    let paths = [fixture("100khz_clock_2logic_1analog.sr")];
    let seen = survey(&paths).unwrap().unwrap();
    assert_eq!(seen.head.channels.len(), 9);
    assert_eq!(seen.head.channels[8].kind, Kind::Sampled);
    let (found, delays) = measured(&paths[0], &query("D0", "D1")).unwrap();
    // Two probes on one pin.
    assert_eq!(delays, [0; 9]);
    assert!(found.notes.iter().any(|note| note.contains("the same wire")));
}

#[test]
fn two_channels_of_an_oscilloscope_show_the_same_square_wave() {
    let looked = survey(&[fixture("scope_3.csv")]).unwrap().unwrap();
    let levels = looked.channels[0].levels.pair().unwrap();
    let (low, high) = (levels.low, levels.high);
    assert!(low.abs() < 0.1 && (high - 2.5).abs() < 0.1, "{low} {high}");
    let rule = (Threshold::Share(0.5), latlab_capture::Hysteresis::Share(0.1));
    let looked = looked.read_edges(&[fixture("scope_3.csv")], rule, 40).unwrap();
    // 1.2 kHz for 2 ms.
    assert!((2..=3).contains(&looked.channels[0].rising), "{:?}", looked.channels[0]);
    let (found, _) = measured(&fixture("scope_3.csv"), &query("1", "2")).unwrap();
    assert_eq!(found.resolution_ps, Some(2_000_000));
}

#[test]
fn files_of_one_channel_are_joined() {
    let error = measured(&fixture("scope_7_1.csv"), &query("1", "2")).unwrap_err().to_string();
    assert!(error.contains("the capture has 1"), "{error}");
}

#[test]
fn a_spectrum_is_no_capture() {
    let error = measured(&fixture("spectrum.isf"), &query("a", "b")).unwrap_err().to_string();
    assert!(error.contains("is a spectrum and has no times"), "{error}");
}

#[test]
fn a_dump_of_a_simulator_has_nested_names() {
    let looked = survey(&[fixture("vectors-integers.vcd")]).unwrap().unwrap();
    let names: Vec<&str> = looked.head.channels.iter().map(|one| one.name.as_str()).collect();
    assert!(names.contains(&"tb_uwam_psf2.dut.clk_i"), "{names:?}");
    let error = measured(&fixture("vectors-integers.vcd"), &query("clk_i", "rst_i")).unwrap_err();
    assert!(error.to_string().contains("is ambiguous"), "{error}");
}
