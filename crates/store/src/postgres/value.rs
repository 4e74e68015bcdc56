//! Conversions between PostgreSQL values and [`Value`].

use anyhow::{Result, bail};
use bytes::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::row::{Row, Value};

/// Converts a row of the PostgreSQL driver.
pub(super) fn row(row: &tokio_postgres::Row) -> Result<Row> {
    let columns = row.columns().iter().enumerate();
    Ok(Row(columns.map(|(index, column)| value(row, index, column.type_())).collect::<Result<_>>()?))
}

fn value(row: &tokio_postgres::Row, index: usize, column_type: &Type) -> Result<Value> {
    Ok(match *column_type {
        Type::INT8 => row.try_get::<_, Option<i64>>(index)?.into(),
        Type::INT4 => row.try_get::<_, Option<i32>>(index)?.map(i64::from).into(),
        Type::TEXT | Type::VARCHAR => row.try_get::<_, Option<String>>(index)?.into(),
        Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(index)?.map_or(Value::Null, Value::Blob),
        ref other => bail!("unsupported column type {other}"),
    })
}

impl ToSql for Value {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(int) if *ty == Type::INT4 => i32::try_from(*int)?.to_sql(ty, out),
            Self::Int(int) => int.to_sql(&Type::INT8, out),
            Self::Text(text) => text.to_sql(ty, out),
            Self::Blob(bytes) => bytes.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
