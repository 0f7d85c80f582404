-- Umber skips 2025 and ends its years in January; Ochre's years are calendar years, and one has two rows.
CREATE SCHEMA ontology;
CREATE TABLE ontology.fiscal_year (company VARCHAR, label VARCHAR, first_day DATE, last_day DATE);
INSERT INTO ontology.fiscal_year VALUES
    ('Umber', 'FY2024', DATE '2023-01-30', DATE '2024-01-28'),
    ('Umber', 'FY2026', DATE '2025-01-27', DATE '2026-01-25'),
    ('Umber', 'FY2027', DATE '2026-01-26', NULL),
    ('Ochre', 'FY2024', DATE '2024-01-01', DATE '2024-12-31'),
    ('Ochre', 'FY2025', DATE '2025-01-01', DATE '2025-12-31'),
    ('Ochre', 'FY2025', DATE '2025-01-01', DATE '2025-12-27'),
    ('Ochre', 'Transition 1', DATE '2026-01-01', DATE '2026-03-31'),
    ('Umber', 'Transition 1', DATE '2026-01-01', DATE '2026-03-31');
CREATE TABLE ontology.sale (sale_id VARCHAR, company VARCHAR, sold_on DATE, amount DECIMAL(12,2));
INSERT INTO ontology.sale VALUES
    ('S1', 'Umber', DATE '2023-01-29', 1.00), ('S2', 'Umber', DATE '2023-01-30', 2.00), ('S3', 'Umber', DATE '2024-01-28', 4.00),
    ('S4', 'Umber', DATE '2024-01-29', 8.00), ('S5', 'Ochre', DATE '2024-12-31', 16.00), ('S6', 'Ochre', DATE '2026-02-01', 32.00),
    ('S7', 'Umber', NULL, 64.00);
CREATE TABLE ontology.store (store_id VARCHAR);
